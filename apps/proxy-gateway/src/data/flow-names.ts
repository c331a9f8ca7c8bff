/** The name and place of a node that carries a flow. */
export interface NodeCard {
  id: number;
  name: string;
  type: string;
  country: string | null;
  alive: boolean | null;
  delayMs: number | null;
  exitIp: string | null;
  subscriptionName: string | null;
}

/** Translates the kernel's tags into names. */
export interface FlowNames {
  /** Null for a built-in, a group, or an unknown node. */
  node(tag: string | null): NodeCard | null;
  chain(tags: readonly string[]): string[];
}

/** The database id of a node tag such as `n12`; null for groups and built-ins. */
export function nodeIdOf(tag: string | null): number | null {
  const digits = tag === null ? undefined : /^n(\d{1,15})$/.exec(tag)?.[1];
  return digits === undefined ? null : Number(digits);
}

export function flowNames(cards: Pick<ReadonlyMap<number, NodeCard>, 'get'>): FlowNames {
  const node = (tag: string | null): NodeCard | null => {
    const id = nodeIdOf(tag);
    return id === null ? null : (cards.get(id) ?? null);
  };
  return { node, chain: (tags) => tags.map((tag) => node(tag)?.name ?? tag) };
}
