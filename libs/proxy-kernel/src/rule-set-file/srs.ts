/**
 * sing-box's binary rule sets: `SRS`, a byte for the version, and zlib over the number of rules and the rules. A rule is a
 * list of items, each of a kind and its values; here it becomes the fields that it has in source form. Numbers are
 * big-endian; counts take as many bytes as they need.
 */
import { rangeToCidrs } from './address-range.js';
import { FileReader } from './file-reader.js';
import { RuleSetFileError } from './rule-set-file-error.js';
import { trieKeys } from './succinct-trie.js';
import { unpack } from './unpack.js';

export interface BinaryRuleSet {
  version: number;
  rules: Record<string, unknown>[];
}

const MAGIC = Buffer.from('SRS', 'latin1');
const KIND = 'an srs file';
const MAX_DEPTH = 8;
const IP_SET_VERSION = 1;
const END = 0xff;
/** In the trie: the names below only, and the name as well. */
const BELOW = '\r';
const WITH_BELOW = '\n';

type Read = (reader: FileReader) => Record<string, unknown>;

const texts =
  (field: string): Read =>
  (reader) => ({ [field]: list(reader, 1, () => reader.take(reader.shortCount(1)).toString('utf8')) });
const numbers =
  (field: string): Read =>
  (reader) => ({ [field]: list(reader, 2, () => reader.take(2).readUInt16BE()) });
const addresses =
  (field: string): Read =>
  (reader) => ({ [field]: prefixes(reader) });

/** What the items of a rule hold, by their kinds. Those that no rule here can say are read to tell which they are. */
const ITEMS: readonly Read[] = [
  numbers('query_type'),
  texts('network'),
  (reader) => domains(names(reader)),
  texts('domain_keyword'),
  texts('domain_regex'),
  addresses('source_ip_cidr'),
  addresses('ip_cidr'),
  numbers('source_port'),
  texts('source_port_range'),
  numbers('port'),
  texts('port_range'),
  texts('process_name'),
  texts('process_path'),
  texts('package_name'),
  texts('wifi_ssid'),
  texts('wifi_bssid'),
  (reader) => ({ adguard_domain: names(reader) }),
  texts('process_path_regex'),
  (reader) => ({ network_type: list(reader, 1, () => reader.byte()) }),
  () => ({ network_is_expensive: true }),
  () => ({ network_is_constrained: true }),
];

export function isSrs(content: Buffer): boolean {
  return content.subarray(0, MAGIC.length).equals(MAGIC);
}

/** @throws RuleSetFileError */
export function readSrs(content: Buffer): BinaryRuleSet {
  const version = content[MAGIC.length];
  if (version === undefined) throw new RuleSetFileError(`${KIND} that is cut short`);
  const reader = new FileReader(unpack(content.subarray(MAGIC.length + 1), 'zlib'), KIND);
  return { version, rules: list(reader, 3, () => readRule(reader, 0)) };
}

function readRule(reader: FileReader, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new RuleSetFileError(`rules nest deeper than ${MAX_DEPTH}`);
  const type = reader.byte();
  if (type > 1) throw new RuleSetFileError(`${KIND} with a rule of a type that is not known (${type})`);
  const rule = type === 0 ? readItems(reader) : readLogical(reader, depth);
  return reader.byte() === 0 ? rule : { ...rule, invert: true };
}

function readItems(reader: FileReader): Record<string, unknown> {
  const rule: Record<string, unknown> = {};
  for (let kind = reader.byte(); kind !== END; kind = reader.byte()) {
    const read = ITEMS[kind];
    // Its length is not known, so nothing behind it can be read.
    if (!read) throw new RuleSetFileError(`${KIND} with a condition of a kind that is not known (${kind})`);
    Object.assign(rule, read(reader));
  }
  return rule;
}

function readLogical(reader: FileReader, depth: number): Record<string, unknown> {
  const mode = ['and', 'or'][reader.byte()];
  return { type: 'logical', mode, rules: list(reader, 3, () => readRule(reader, depth + 1)) };
}

function list<T>(reader: FileReader, size: number, read: () => T): T[] {
  return Array.from({ length: reader.shortCount(size) }, read);
}

function names(reader: FileReader): string[] {
  reader.byte(); // a version, which sing-box does not look at either
  const leaves = reader.take(reader.shortCount(8) * 8);
  const bitmap = reader.take(reader.shortCount(8) * 8);
  return [...trieKeys({ leaves, bitmap, labels: reader.take(reader.shortCount(1)) })];
}

/** Version 1 has two keys for a suffix: the name, and those below. */
function domains(keys: readonly string[]): Record<string, unknown> {
  const all = new Set(keys);
  const domain: string[] = [];
  const suffixes: string[] = [];
  for (const key of keys) {
    if (key.startsWith(WITH_BELOW)) suffixes.push(key.slice(1));
    else if (key.startsWith(BELOW)) suffixes.push(key.slice(key[1] === '.' && all.has(key.slice(2)) ? 2 : 1));
    else if (!all.has(`${BELOW}.${key}`)) domain.push(key);
  }
  return { ...(domain.length > 0 && { domain }), ...(suffixes.length > 0 && { domain_suffix: suffixes }) };
}

function prefixes(reader: FileReader): string[] {
  if (reader.byte() !== IP_SET_VERSION) throw new RuleSetFileError(`${KIND} with addresses of another version`);
  const count = reader.count(10);
  return Array.from({ length: count }, () => rangeToCidrs(readAddress(reader), readAddress(reader))).flat();
}

function readAddress(reader: FileReader): Buffer {
  const address = reader.take(reader.shortCount(1));
  if (address.length !== 4 && address.length !== 16)
    throw new RuleSetFileError(`${KIND} with an address of ${address.length} bytes`);
  return address;
}
