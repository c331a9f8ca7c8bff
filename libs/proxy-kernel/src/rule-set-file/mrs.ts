/**
 * mihomo's binary rule sets: zstd over `MRS\x01`, a byte for the behavior, the number of entries, a block of extra data
 * and the body. Numbers are big-endian, with eight bytes.
 */
import { zstdDecompressSync } from 'node:zlib';
import type { RuleSetBehavior } from '../interfaces/config.js';
import type { Line } from './lines.js';
import { RuleSetFileError } from './rule-set-file-error.js';
import { trieKeys } from './succinct-trie.js';
import { formatIp } from '@gatehouse/net';

/** Ten times the largest one in use; reading its trie takes four times as much again. */
const MAX_INFLATED = 16 * 1024 * 1024;
const MAGIC = Buffer.from('MRS\x01', 'latin1');
const BEHAVIORS: readonly RuleSetBehavior[] = ['domain', 'ipcidr', 'classical'];
const BODY_VERSION = 1;
const RANGE_BYTES = 32;

/** @throws RuleSetFileError */
export function* parseMrs(content: Buffer, behavior: RuleSetBehavior): Generator<Line> {
  const reader = new MrsReader(inflate(content));
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new RuleSetFileError('not an mrs file');
  const found = BEHAVIORS[reader.byte()];
  if (found !== behavior) throw new RuleSetFileError(`an mrs file of behavior ${found ?? 'unknown'}, not ${behavior}`);
  reader.length(0);
  reader.take(reader.length(1));
  if (behavior === 'classical') throw new RuleSetFileError('mrs files hold names or addresses only');
  if (reader.byte() !== BODY_VERSION) throw new RuleSetFileError('an mrs body of another version');
  let number = 0;
  for (const text of behavior === 'domain' ? domains(reader) : prefixes(reader)) {
    yield { number: ++number, text, problem: null };
  }
}

function inflate(content: Buffer): Buffer {
  try {
    return zstdDecompressSync(content, { maxOutputLength: MAX_INFLATED });
  } catch (cause) {
    const tooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    throw new RuleSetFileError(tooLarge ? 'too large when decompressed' : 'not compressed with zstd', { cause });
  }
}

/**
 * In the trie `+.x` stands for all names below x, and x is a separate key if it is meant as well. In the result `+.x`
 * stands for both, and `.x` for the names below only.
 */
function* domains(reader: MrsReader): Generator<string> {
  const leaves = reader.words();
  const bitmap = reader.words();
  const labels = reader.take(reader.length(1));
  const keys = new Set(trieKeys({ leaves, bitmap, labels }));
  for (const key of keys) {
    if (key.startsWith('+.')) yield keys.has(key.slice(2)) ? key : key.slice(1);
    else if (!keys.has(`+.${key}`)) yield key;
  }
}

function* prefixes(reader: MrsReader): Generator<string> {
  const count = reader.length(RANGE_BYTES);
  for (let i = 0; i < count; i++) yield* rangeToCidrs(reader.take(16), reader.take(16));
}

/** Reads within the buffer only, and refuses lengths beyond its end. */
class MrsReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(size: number): Buffer {
    if (size > this.#bytes.length - this.#at) throw new RuleSetFileError('an mrs file that is cut short');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  /** A count of items with `size` bytes each. */
  length(size: number): number {
    const value = this.take(8).readBigInt64BE();
    if (value < 0n || value * BigInt(size) > BigInt(this.#bytes.length - this.#at)) {
      throw new RuleSetFileError('an mrs file that is cut short');
    }
    return Number(value);
  }

  words(): Buffer {
    return this.take(this.length(8) * 8);
  }
}

const MAPPED = 0xffffn << 32n;

/**
 * The prefixes that cover the addresses from `first` to `last`. Both have 16 bytes, IPv4 in its mapped form. @throws
 * RuleSetFileError
 */
function rangeToCidrs(first: Buffer, last: Buffer): string[] {
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

/** The size, as a power of two, of the largest aligned block at `at` with at most `left` addresses. */
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
