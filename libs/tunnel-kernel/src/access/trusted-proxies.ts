import { formatCidr, formatIp, hostCidr, parseCidr, parseIp } from '@gatehouse/net';
import { NO_RANK, PrefixTrie } from './prefix-trie.js';

const MAX_HOPS = 64;

/** Proxies that are trusted to name their visitors. */
export class TrustedProxies {
  private readonly trie: PrefixTrie;
  private readonly isEmpty: boolean;

  /** Takes prefixes and addresses. @throws RangeError naming an invalid one. */
  constructor(texts: readonly string[]) {
    this.isEmpty = texts.length === 0;
    this.trie = new PrefixTrie(
      texts.map((text) => {
        const address = parseIp(text);
        const cidr = parseCidr(address ? formatCidr(hostCidr(address)) : text);
        if (!cidr) throw new RangeError(`trusted proxies: "${text}" is neither an address nor a prefix`);
        return { cidr, rank: 0 };
      }),
    );
  }

  has(text: string): boolean {
    if (this.isEmpty) return false;
    const address = parseIp(text);
    return address !== null && this.trie.find(address) !== NO_RANK;
  }

  /** The right-most address of the list that is not a trusted proxy; null if there is none. */
  visitorIn(list: string): string | null {
    const hops = list.split(',', MAX_HOPS + 1);
    if (hops.length > MAX_HOPS) return null;
    let visitor: string | null = null;
    for (const hop of hops.toReversed()) {
      const ip = parseIp(withoutPort(hop.trim()));
      // Anything to the left of an unreadable entry comes from an untrusted party.
      if (!ip) return visitor;
      visitor = formatIp(ip);
      if (!this.has(visitor)) return visitor;
    }
    return visitor;
  }
}

/** Some proxies append the port. */
function withoutPort(hop: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(hop) ?? [];
  return bracketed ?? dotted ?? hop;
}
