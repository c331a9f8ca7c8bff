/** Asks for some of the tokens of a key: `burst` at once, one more every `intervalMs` (GCRA). */
export interface TokenRequest {
  readonly key: string;
  readonly intervalMs: number;
  readonly burst: number;
  /** At most `burst`. */
  readonly cost: number;
}

export interface TokenAnswer {
  readonly granted: number;
  /** What there was before. */
  readonly room: number;
  /** Milliseconds until the key is as good as new. */
  readonly aheadMs: number;
}

/** Tokens that all replicas share. */
export abstract class LimitStore {
  /** As many as there are of each, or with `all` everything or nothing. Keys differ. Rejects when the store is away. */
  abstract take(requests: readonly TokenRequest[], all: boolean): Promise<TokenAnswer[]>;
}
