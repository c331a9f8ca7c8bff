import { formatIp } from '@gatehouse/net';
import { RuleSetFileError } from './rule-set-file-error.js';

const MAPPED = 0xffffn << 32n;

/** The prefixes that make up the addresses from `first` to `last`, both of 16 bytes, IPv4 in its mapped form. @throws RuleSetFileError */
export function rangeToCidrs(first: Buffer, last: Buffer): string[] {
  const from = toNumber(first);
  const to = toNumber(last);
  const v4 = from >> 32n === MAPPED >> 32n;
  if (from > to || v4 !== (to >> 32n === MAPPED >> 32n))
    throw new RuleSetFileError('a range of addresses that ends before it begins');
  const cidrs: string[] = [];
  for (let at = from; at <= to;) {
    const bits = blockBits(at, to - at + 1n, v4 ? 32 : 128);
    cidrs.push(`${textOf(at, v4)}/${(v4 ? 32 : 128) - bits}`);
    at += 1n << BigInt(bits);
  }
  return cidrs;
}

/** Size, as a power of two, of the largest aligned block at `at` that holds no more than `left` addresses. */
function blockBits(at: bigint, left: bigint, width: number): number {
  let bits = 0;
  while (bits < width && ((at >> BigInt(bits)) & 1n) === 0n && 1n << BigInt(bits + 1) <= left) bits++;
  return bits;
}

function textOf(address: bigint, v4: boolean): string {
  const word = (shift: bigint): number => Number((address >> shift) & 0xffffffffn);
  if (v4) return formatIp({ family: 4, words: [word(0n)] });
  return formatIp({ family: 6, words: [word(96n), word(64n), word(32n), word(0n)] });
}

function toNumber(bytes: Buffer): bigint {
  return (bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8);
}
