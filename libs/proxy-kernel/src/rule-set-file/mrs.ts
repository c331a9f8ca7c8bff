/**
 * mihomo's binary rule sets: zstd over `MRS\x01`, a byte for the behavior, the number of entries, a block of extra data
 * and the body. Numbers are big-endian, with eight bytes.
 */
import type { RuleSetBehavior } from '../interfaces/config.js';
import { rangeToCidrs } from './address-range.js';
import { FileReader } from './file-reader.js';
import type { Line } from './lines.js';
import { RuleSetFileError } from './rule-set-file-error.js';
import { trieKeys } from './succinct-trie.js';
import { unpack } from './unpack.js';

const MAGIC = Buffer.from('MRS\x01', 'latin1');
const BEHAVIORS: readonly RuleSetBehavior[] = ['domain', 'ipcidr', 'classical'];
const BODY_VERSION = 1;
const RANGE_BYTES = 32;
const MAPPED = Buffer.from('00000000000000000000ffff', 'hex');

/** @throws RuleSetFileError */
export function* parseMrs(content: Buffer, behavior: RuleSetBehavior): Generator<Line> {
  const reader = new FileReader(unpack(content, 'zstd'), 'an mrs file');
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new RuleSetFileError('not an mrs file');
  const found = BEHAVIORS[reader.byte()];
  if (found !== behavior) throw new RuleSetFileError(`an mrs file of behavior ${found ?? 'unknown'}, not ${behavior}`);
  reader.count(0);
  reader.take(reader.count(1));
  if (behavior === 'classical') throw new RuleSetFileError('mrs files hold names or addresses only');
  if (reader.byte() !== BODY_VERSION) throw new RuleSetFileError('an mrs body of another version');
  let number = 0;
  for (const text of behavior === 'domain' ? domains(reader) : prefixes(reader)) {
    yield { number: ++number, text, problem: null };
  }
}

/**
 * In the trie `+.x` stands for all names below x, and x is a separate key if it is meant as well. In the result `+.x`
 * stands for both, and `.x` for the names below only.
 */
function* domains(reader: FileReader): Generator<string> {
  const leaves = words(reader);
  const bitmap = words(reader);
  const labels = reader.take(reader.count(1));
  const keys = new Set(trieKeys({ leaves, bitmap, labels }));
  for (const key of keys) {
    if (key.startsWith('+.')) yield keys.has(key.slice(2)) ? key : key.slice(1);
    else if (!keys.has(`+.${key}`)) yield key;
  }
}

function words(reader: FileReader): Buffer {
  return reader.take(reader.count(8) * 8);
}

function* prefixes(reader: FileReader): Generator<string> {
  const count = reader.count(RANGE_BYTES);
  for (let i = 0; i < count; i++) yield* rangeToCidrs(...plainRange(reader.take(16), reader.take(16)));
}

/** IPv4 is written in its mapped form. */
function plainRange(from: Buffer, to: Buffer): [Buffer, Buffer] {
  const mapped = (address: Buffer): boolean => address.subarray(0, MAPPED.length).equals(MAPPED);
  const start = mapped(from) ? MAPPED.length : 0;
  return [from.subarray(start), to.subarray(mapped(to) ? MAPPED.length : 0)];
}
