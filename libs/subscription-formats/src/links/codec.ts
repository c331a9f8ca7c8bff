import type { ProxyNode } from '@gatehouse/contracts';

/** One family of share links. */
export interface LinkCodec<N extends ProxyNode> {
  /** Lower case, without `://`. */
  readonly schemes: readonly string[];
  /** @throws FormatError */
  readonly parse: (link: string) => N;
  /** A link that `parse` reads back to an equal node. @throws FormatError when there is no such link. */
  readonly format: (node: N) => string;
}
