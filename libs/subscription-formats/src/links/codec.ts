import type { ProxyNode } from '@gatehouse/contracts';

/** One family of share links. */
export interface LinkCodec<N extends ProxyNode> {
  /** Lower case, without `://`. */
  readonly schemes: readonly string[];
  /** Throws `FormatError`. */
  readonly parse: (link: string) => N;
  /** A link that `parse` reads back to an equal node. Throws `FormatError` when no link can say it. */
  readonly format: (node: N) => string;
}
