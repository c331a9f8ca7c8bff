import type { ConnectionMetadata } from '../interfaces/connection.js';

/** Says of a rule that matched whether its target can take the flow now. */
export type Accept = (index: number) => boolean;

/** Finds the rule that decides. Two make one: the compiled index, and the plain scan that the tests hold it against. */
export interface RuleFinder {
  /** Smallest index in `[from, to)` whose rule matches `flow` as it is and is accepted; `to` when there is none. */
  find(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number;
}
