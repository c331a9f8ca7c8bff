/** `GET /proxies/ids`: the ids of all nodes that match, in the requested order. */
export interface NodeIds {
  ids: number[];
}

/** `delete` removes nodes as `DELETE /proxies/{id}` does; `tag` and `untag` add and remove `tags`. */
export const NODE_BATCH_ACTIONS = ['enable', 'disable', 'delete', 'tag', 'untag'] as const;
export type NodeBatchAction = (typeof NODE_BATCH_ACTIONS)[number];

/** A node that a batch left as it was. */
export interface NodeBatchFailure {
  id: number;
  /** `NOT_FOUND`; or `CONFLICT` for a node that only its subscription can remove, or that would have too many tags. */
  code: string;
  message: string;
}

/** `POST /proxies/batch`. Each requested id is either in `done` or in `failed`. */
export interface NodeBatchResult {
  action: NodeBatchAction;
  done: number[];
  failed: NodeBatchFailure[];
}
