/**
 * v2ray's `geosite.dat`: a protobuf message with lists of names. Each list has a code, and each name has attributes.
 */
import { GeoDatabaseError } from '@gatehouse/geo';
import { ProtobufReader } from './protobuf-reader.js';

export interface GeositeFile {
  /** Lower case, as in rules, in the order of the file. */
  readonly codes: readonly string[];
  /**
   * The entries of a list in the form of a classical rule set; `google@cn` gives those with the attribute `cn`,
   * `google@!cn` those without. Null for an unknown list.
   */
  readonly entries: (code: string) => string[] | null;
}

interface GeositeName {
  line: string;
  attributes: ReadonlySet<string>;
}

const MAX_FILE = 128 * 1024 * 1024;
const MAX_LISTS = 100_000;
/** Field numbers of `GeoSiteList`, `GeoSite`, `Domain` and `Domain.Attribute`. */
const LIST_ENTRY = 1;
const SITE_CODE = 1;
const SITE_DOMAIN = 2;
const DOMAIN_TYPE = 1;
const DOMAIN_VALUE = 2;
const DOMAIN_ATTRIBUTE = 3;
const ATTRIBUTE_KEY = 1;
const RULE_OF_TYPE = ['DOMAIN-KEYWORD', 'DOMAIN-REGEX', 'DOMAIN-SUFFIX', 'DOMAIN'] as const;

/**
 * Opens a file of site lists. Everything is checked here, in time bounded by the file's size, so that `entries` cannot
 * fail later. The buffer is kept and must not change.
 * @throws GeoDatabaseError
 */
export function openGeositeFile(file: Buffer): GeositeFile {
  if (file.length > MAX_FILE) throw new GeoDatabaseError('larger than any file of site lists');
  const lists = new Map<string, Buffer[]>();
  let count = 0;
  for (const field of new ProtobufReader(file).fields()) {
    if (field.number !== LIST_ENTRY || field.bytes === null) throw new GeoDatabaseError('not a file of site lists');
    if (++count > MAX_LISTS) throw new GeoDatabaseError('more lists than there are');
    const code = checkList(field.bytes);
    const known = lists.get(code);
    if (known) known.push(field.bytes);
    else lists.set(code, [field.bytes]);
  }
  if (lists.size === 0) throw new GeoDatabaseError('no list of sites');
  return { codes: [...lists.keys()], entries: (code) => entriesOf(lists, code) };
}

function entriesOf(lists: ReadonlyMap<string, Buffer[]>, code: string): string[] | null {
  const [name = '', ...attributes] = code.toLowerCase().split('@');
  const found = lists.get(name);
  if (!found) return null;
  const wanted = (entry: GeositeName): boolean =>
    attributes.every((attribute) =>
      attribute.startsWith('!') ? !entry.attributes.has(attribute.slice(1)) : entry.attributes.has(attribute),
    );
  const lines = found.flatMap((list) => [...namesOf(list)].filter(wanted).map(({ line }) => line));
  return [...new Set(lines)];
}

/** Reads a list once to check it. */
function checkList(list: Buffer): string {
  const code = codeOf(list);
  for (const name of namesOf(list)) if (name.line === '') throw new GeoDatabaseError('a name without text');
  return code;
}

function codeOf(list: Buffer): string {
  for (const { number, bytes } of new ProtobufReader(list).fields()) {
    if (number !== SITE_CODE || bytes === null) continue;
    const code = bytes.toString('utf8').toLowerCase();
    if (/^[a-z0-9_.!-]{1,128}$/.test(code)) return code;
    throw new GeoDatabaseError('a list whose code is no code');
  }
  throw new GeoDatabaseError('a list without a code');
}

function* namesOf(list: Buffer): Generator<GeositeName> {
  for (const { number, bytes } of new ProtobufReader(list).fields()) {
    if (number === SITE_DOMAIN && bytes !== null) yield readName(bytes);
  }
}

function readName(message: Buffer): GeositeName {
  let type = 0;
  let value = '';
  const attributes = new Set<string>();
  for (const { number, bytes, varint } of new ProtobufReader(message).fields()) {
    if (number === DOMAIN_TYPE && varint !== null) type = varint;
    else if (number === DOMAIN_VALUE && bytes !== null) value = bytes.toString('utf8');
    else if (number === DOMAIN_ATTRIBUTE && bytes !== null) attributes.add(attributeKey(bytes));
  }
  const rule = RULE_OF_TYPE[type];
  if (rule === undefined) throw new GeoDatabaseError('a name of no known kind');
  return { line: value === '' ? '' : `${rule},${value}`, attributes };
}

function attributeKey(message: Buffer): string {
  for (const { number, bytes } of new ProtobufReader(message).fields()) {
    if (number === ATTRIBUTE_KEY && bytes !== null) return bytes.toString('utf8').toLowerCase();
  }
  return '';
}
