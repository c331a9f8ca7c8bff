import { specialPurposeRanges, type Cidr, type IpAddress } from '@gatehouse/net';

const WORD_BITS = 32n;
const WORD = (1n << WORD_BITS) - 1n;

/** Addresses that are not public: RFC 1918, 4193, 6598, loopback and link-local. */
export const PRIVATE_CIDRS: readonly Cidr[] = specialPurposeRanges('private', 'shared', 'loopback', 'link-local');

/** The address as one number. */
export function ipNumber({ words }: IpAddress): bigint {
  return words.reduce((value, word) => (value << WORD_BITS) | BigInt(word), 0n);
}

/** The smallest set of prefixes that covers exactly `first` to `last`. */
export function cidrsOfRange(family: 4 | 6, first: bigint, last: bigint): Cidr[] {
  const bits = family === 4 ? 32 : 128;
  const cidrs: Cidr[] = [];
  let at = first;
  while (at <= last) {
    // As large as the alignment of the first address and the end of the range allow.
    let free = 0;
    while (free < bits && (at >> BigInt(free)) % 2n === 0n && at + (2n << BigInt(free)) - 1n <= last) free++;
    cidrs.push({ family, words: wordsOf(family, at), prefix: bits - free });
    at += 1n << BigInt(free);
  }
  return cidrs;
}

/** Everything outside of `cidrs`, in both families. */
export function complementOf(cidrs: readonly Cidr[]): Cidr[] {
  return ([4, 6] as const).flatMap((family) => {
    const bits = family === 4 ? 32 : 128;
    const taken = cidrs
      .filter((cidr) => cidr.family === family)
      .map((cidr) => ({ first: ipNumber(cidr), size: 1n << BigInt(bits - cidr.prefix) }))
      .sort((a, b) => (a.first < b.first ? -1 : 1));
    const gaps: Cidr[] = [];
    let at = 0n;
    for (const { first, size } of taken) {
      gaps.push(...cidrsOfRange(family, at, first - 1n));
      at = first + size;
    }
    return [...gaps, ...cidrsOfRange(family, at, (1n << BigInt(bits)) - 1n)];
  });
}

export function wordsOf(family: 4 | 6, value: bigint): number[] {
  const count = family === 4 ? 1 : 4;
  return Array.from({ length: count }, (_, index) => Number((value >> (WORD_BITS * BigInt(count - 1 - index))) & WORD));
}
