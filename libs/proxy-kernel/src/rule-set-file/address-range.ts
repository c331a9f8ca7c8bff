import { formatIp } from '@gatehouse/net';
import { RuleSetFileError } from './rule-set-file-error.js';

/** The prefixes that cover the addresses from `first` to `last`, of 4 or 16 bytes each. @throws RuleSetFileError */
export function rangeToCidrs(first: Buffer, last: Buffer): string[] {
  const from = toNumber(first);
  const to = toNumber(last);
  if (from > to || first.length !== last.length)
    throw new RuleSetFileError('a range of addresses that ends before it begins');
  const width = first.length * 8;
  const cidrs: string[] = [];
  for (let at = from; at <= to;) {
    const bits = blockBits(at, to - at + 1n, width);
    cidrs.push(`${textOf(at, width)}/${width - bits}`);
    at += 1n << BigInt(bits);
  }
  return cidrs;
}

/** The size, as a power of two, of the largest aligned block at `at` with at most `left` addresses. */
function blockBits(at: bigint, left: bigint, width: number): number {
  let bits = 0;
  while (bits < width && ((at >> BigInt(bits)) & 1n) === 0n && 1n << BigInt(bits + 1) <= left) bits++;
  return bits;
}

function textOf(address: bigint, width: number): string {
  const word = (shift: bigint): number => Number((address >> shift) & 0xffffffffn);
  if (width === 32) return formatIp({ family: 4, words: [word(0n)] });
  return formatIp({ family: 6, words: [word(96n), word(64n), word(32n), word(0n)] });
}

function toNumber(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}
