import { parseCidr } from '@gatehouse/net';

type Value = string | number | { [key: string]: Value } | Value[];

/** A country database in MaxMind DB format: IPv4 prefixes and their countries. */
export function countryFile(countries: Record<string, string>): Buffer {
  const records = Object.entries(countries).map(([range, code]): [string, Value] => [
    range,
    { country: { iso_code: code } },
  ]);
  return databaseFile(records, 'Test-Country');
}

/** IPv4 prefixes and the numbers of their autonomous systems. mihomo knows the fields by the type of the database. */
export function asnFile(numbers: Record<string, number>, databaseType = 'Test-ASN'): Buffer {
  const records = Object.entries(numbers).map(([range, number]): [string, Value] => [
    range,
    { autonomous_system_number: number, autonomous_system_organization: 'TEST' },
  ]);
  return databaseFile(records, databaseType);
}

/** Lists of `full:`, `domain:`, `keyword:` and `regexp:` lines in v2ray's format. */
export function geositeFile(lists: Record<string, string[]>): Buffer {
  return Buffer.concat(Object.entries(lists).map(([code, lines]) => field(1, siteList(code, lines))));
}

function siteList(code: string, lines: string[]): Buffer {
  const types = ['keyword', 'regexp', 'domain', 'full'];
  const names = lines.map((line) => {
    const [kind = '', value = ''] = line.split(':');
    return field(2, Buffer.concat([Buffer.from([0x08, types.indexOf(kind)]), field(2, Buffer.from(value))]));
  });
  return Buffer.concat([field(1, Buffer.from(code.toUpperCase())), ...names]);
}

/** A length-delimited protobuf field. */
function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, rest]), bytes]);
}

function databaseFile(records: [string, Value][], databaseType: string): Buffer {
  const nodes: [number | null, number | null][] = [[null, null]];
  const leaves: { node: number; bit: 0 | 1; offset: number }[] = [];
  const data: Buffer[] = [];
  let length = 0;
  for (const [range, value] of records) {
    const cidr = parseCidr(range);
    if (!cidr || cidr.family !== 4) throw new Error(`not an IPv4 range: ${range}`);
    const bitAt = (index: number): 0 | 1 => (((cidr.words[0] ?? 0) >>> (31 - index)) & 1) as 0 | 1;
    let node = 0;
    for (let index = 0; index < cidr.prefix - 1; index++) {
      const row = nodes[node]!;
      node = row[bitAt(index)] ??= nodes.push([null, null]) - 1;
    }
    leaves.push({ node, bit: bitAt(cidr.prefix - 1), offset: length });
    data.push(encode(value));
    length += data.at(-1)!.length;
  }
  const tree = nodes.map((row) => row.map((next) => next ?? nodes.length));
  for (const { node, bit, offset } of leaves) tree[node]![bit] = nodes.length + 16 + offset;
  const packed = tree.flat().map((record) => Buffer.from([record >>> 16, (record >>> 8) & 255, record & 255]));
  return Buffer.concat([
    ...packed,
    Buffer.alloc(16),
    ...data,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    encode({
      binary_format_major_version: 2,
      binary_format_minor_version: 0,
      build_epoch: 1_700_000_000,
      database_type: databaseType,
      description: { en: 'made for a test' },
      ip_version: 4,
      languages: ['en'],
      node_count: nodes.length,
      record_size: 24,
    }),
  ]);
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  if (typeof value === 'object') {
    const entries = Object.entries(value).flatMap(([key, item]) => [encode(key), encode(item)]);
    return Buffer.concat([control(7, entries.length / 2), ...entries]);
  }
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return Buffer.concat([control(6, 4), bytes]);
}

function control(type: number, size: number): Buffer {
  if (size >= 285) throw new Error('too long for a test');
  const small = Math.min(size, 29);
  const extended = type > 7 ? [type - 7] : [];
  return Buffer.from([type > 7 ? small : (type << 5) | small, ...extended, ...(small === 29 ? [size - 29] : [])]);
}
