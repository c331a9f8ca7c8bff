import { formatCidr, hostCidr, parseCidr, parseIp } from '@gatehouse/net';
import { NO_RANK, PrefixTrie } from './prefix-trie.js';

/** Whether an address is in one of these prefixes or is one of these addresses. @throws RangeError naming what is neither. */
export function trustedProxies(texts: readonly string[]): (address: string) => boolean {
  const trie = new PrefixTrie(
    texts.map((text) => {
      const address = parseIp(text);
      const cidr = parseCidr(address ? formatCidr(hostCidr(address)) : text);
      if (!cidr) throw new RangeError(`trusted proxies: "${text}" is neither an address nor a prefix`);
      return { cidr, rank: 0 };
    }),
  );
  return (text) => {
    const address = parseIp(text);
    return address !== null && trie.find(address) !== NO_RANK;
  };
}
