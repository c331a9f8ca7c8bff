import type { ProxyNode } from '@gatehouse/contracts';
import type { GroupConfig, KernelConfig, OutboundConfig } from '@gatehouse/proxy-kernel';

/** Longer chains of dialers and nested groups are mistakes. */
const MAX_HOPS = 16;

/** Finds the nodes between this machine and a node, as a kernel with this configuration would dial it. */
export class DialPaths {
  readonly #outbounds: ReadonlyMap<string, OutboundConfig>;
  readonly #groups: ReadonlyMap<string, GroupConfig>;
  readonly #isAlive: (tag: string) => boolean;

  constructor({ outbounds, groups }: Pick<KernelConfig, 'outbounds' | 'groups'>, isAlive: (tag: string) => boolean) {
    this.#outbounds = new Map(outbounds.map((outbound) => [outbound.tag, outbound]));
    this.#groups = new Map(groups.map((group) => [group.name, group]));
    this.#isAlive = isAlive;
  }

  /** The first hop comes first; null if there is no way. */
  to(dialer: string | undefined): ProxyNode[] | null {
    const hops: ProxyNode[] = [];
    for (let next = dialer; next !== undefined;) {
      const tag = this.#through(next);
      if (tag === 'DIRECT') break;
      const hop = tag === undefined ? undefined : this.#outbounds.get(tag);
      if (!hop || hops.length >= MAX_HOPS) return null;
      hops.unshift(hop.node);
      next = hop.dialer;
    }
    return hops;
  }

  /** Follows nested groups: the user's choice, otherwise the first living member, otherwise the first. */
  #through(tag: string, depth = 0): string | undefined {
    const group = this.#groups.get(tag);
    if (!group) return tag;
    if (depth >= MAX_HOPS) return undefined;
    const { selected, members } = group;
    const chosen = selected ?? members.find((member) => this.#isAlive(member)) ?? members[0];
    return chosen === undefined ? undefined : this.#through(chosen, depth + 1);
  }
}
