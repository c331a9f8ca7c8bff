import { cidrContains, formatIp, parseCidr, parseIp } from '@gatehouse/net';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import {
  GeoDatabaseError,
  type CountryDatabase,
  openAsnDatabase,
  openAsnLookup,
  openCountryDatabase,
  readBundledCountryFile,
} from './index.js';

type Value = string | number | boolean | { [key: string]: Value } | Value[] | Uint8Array;

function control(type: number, size: number): Buffer {
  const first = type > 7 ? 0 : type << 5;
  const extended = type > 7 ? [type - 7] : [];
  if (size < 29) return Buffer.from([first | size, ...extended]);
  if (size < 285) return Buffer.from([first | 29, ...extended, size - 29]);
  return Buffer.from([first | 30, ...extended, (size - 285) >> 8, (size - 285) & 255]);
}

/** A byte array stands for bytes written as they are. */
function encode(value: Value): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'boolean') return control(14, value ? 1 : 0);
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    return Buffer.concat([
      control(7, entries.length),
      ...entries.flatMap(([key, item]) => [encode(key), encode(item)]),
    ]);
  }
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return Buffer.concat([control(6, 4), bytes]);
}

interface FileOptions {
  ipVersion?: 4 | 6;
  recordSize?: 24 | 28 | 32;
  metadata?: { [key: string]: Value };
}

/** A database file with one record for each distinct value, the tree written out node by node. */
function write(
  entries: [string, Value][],
  { ipVersion = 6, recordSize = 24, metadata = {} }: FileOptions = {},
): Buffer {
  const nodes: [number | null, number | null][] = [[null, null]];
  const leaves: { node: number; bit: number; offset: number }[] = [];
  const data: Buffer[] = [];
  let length = 0;
  for (const [text, value] of entries) {
    const cidr = parseCidr(text);
    if (!cidr) throw new Error(text);
    const lead = cidr.family === 4 && ipVersion === 6 ? 96 : 0;
    const bits = lead + cidr.prefix;
    const bitAt = (i: number) => (i < lead ? 0 : ((cidr.words[(i - lead) >> 5] ?? 0) >>> (31 - ((i - lead) & 31))) & 1);
    let node = 0;
    for (let i = 0; i < bits - 1; i++) {
      const row = nodes[node];
      if (!row) throw new Error('no node');
      const next = row[bitAt(i)] ?? nodes.push([null, null]) - 1;
      row[bitAt(i)] = next;
      node = next;
    }
    leaves.push({ node, bit: bitAt(bits - 1), offset: length });
    const encoded = encode(value);
    data.push(encoded);
    length += encoded.length;
  }
  const records = nodes.map((row) => row.map((next) => next ?? nodes.length));
  for (const { node, bit, offset } of leaves) (records[node] ?? [])[bit] = nodes.length + 16 + offset;
  const tree = records.map(([left = 0, right = 0]) => packNode(left, right, recordSize));
  const info = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'Test-Country',
    description: { en: 'made for a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: recordSize,
    ...metadata,
  });
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), info]);
}

function packUint24(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntBE(value, 0, 3);
  return bytes;
}

function packNode(left: number, right: number, recordSize: number): Buffer {
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
  } else if (recordSize === 24) {
    bytes.writeUIntBE(left, 0, 3);
    bytes.writeUIntBE(right, 3, 3);
  } else {
    bytes.writeUIntBE(left & 0xffffff, 0, 3);
    bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
    bytes.writeUIntBE(right & 0xffffff, 4, 3);
  }
  return bytes;
}

const geolite = (code: string): Value => ({
  continent: { code: 'EU', names: { en: 'Europe', de: 'Europa' } },
  country: { geoname_id: 123, is_in_european_union: true, iso_code: code, names: { en: 'x'.repeat(300) } },
  registered_country: { iso_code: 'ZZ' },
});
const refusal = (file: Buffer): string => {
  try {
    openCountryDatabase(file);
  } catch (error) {
    if (error instanceof GeoDatabaseError) return error.message;
    throw error;
  }
  throw new Error('the file was taken');
};

describe('country database', () => {
  it.each([
    ['GeoLite2', geolite('DE'), 'DE'],
    ['ip-location-db', { country_code: 'DE' }, 'DE'],
    ['sing-geoip', 'de', 'DE'],
    ['Meta-geoip0, one', 'DE', 'DE'],
    ['Meta-geoip0, several', ['telegram', 'private', 'DE'], 'DE'],
  ] satisfies [string, Value, string][])('reads the records of %s', (_, record, country) => {
    const database = openCountryDatabase(write([['1.2.3.0/24', record]]));
    expect(database.lookup('1.2.3.4')).toBe(country);
    expect(database.lookup('1.2.4.4')).toBeNull();
  });

  it.each([24, 28, 32] as const)('reads records of %d bits, both families', (recordSize) => {
    for (const ipVersion of [4, 6] as const) {
      const v6: [string, Value][] =
        ipVersion === 6
          ? [
              ['2001:db8::/32', 'JP'],
              ['8000::/1', 'BR'],
            ]
          : [];
      const file = write([['1.2.3.0/24', 'DE'], ['128.0.0.0/1', 'US'], ['10.0.0.1/32', 'FR'], ...v6], {
        ipVersion,
        recordSize,
      });
      const { lookup, metadata, nodeCount } = openCountryDatabase(file);
      expect(['1.2.3.255', '200.1.1.1', '10.0.0.1', '10.0.0.2'].map(lookup)).toEqual(['DE', 'US', 'FR', null]);
      expect(lookup('::ffff:1.2.3.4')).toBe('DE');
      expect(['2001:db8::5', 'ffff::1', '2001:db9::'].map(lookup)).toEqual(
        ipVersion === 6 ? ['JP', 'BR', null] : [null, null, null],
      );
      expect(metadata).toEqual({
        databaseType: 'Test-Country',
        ipVersion,
        recordSize,
        nodeCount,
        builtAt: 1_700_000_000_000,
      });
      expect(['', 'x', '1.2.3', '1.2.3.4.5'].map(lookup)).toEqual([null, null, null, null]);
    }
  });

  it('reads records of 28 bits beyond the range of 24', () => {
    const padding = Buffer.concat([
      Buffer.from([(4 << 5) | 31]),
      Buffer.from([0xfe, 0xfe, 0xe2]),
      Buffer.alloc(0xfefee2 + 65_821),
    ]);
    const file = write(
      [
        ['64.0.0.0/2', { country_code: 'SE', padding }],
        ['128.0.0.0/1', 'NO'],
        ['0.0.0.0/2', 'FI'],
      ],
      { ipVersion: 4, recordSize: 28 },
    );
    expect(['65.0.0.1', '200.0.0.1', '1.0.0.1'].map(openCountryDatabase(file).lookup)).toEqual(['SE', 'NO', 'FI']);
  });

  it('follows pointers of every size', () => {
    for (const pointer of [Buffer.from([0x20, 0]), Buffer.from([0x38, 0, 0, 0, 0])]) {
      const { lookup } = openCountryDatabase(
        write([
          ['1.0.0.0/8', 'PL'],
          ['2.0.0.0/8', { country: { iso_code: pointer } }],
        ]),
      );
      expect(lookup('2.2.2.2')).toBe('PL');
    }
    // The longer pointers begin at 2048 and 526336; both countries lie a little behind that.
    const bytes = (size: number) =>
      Buffer.concat([Buffer.from([(4 << 5) | 31]), packUint24(size - 65_821), Buffer.alloc(size)]);
    const short = Buffer.concat([Buffer.from([(4 << 5) | 30, 0x06, 0xff]), Buffer.alloc(0x6ff + 285)]);
    const { lookup } = openCountryDatabase(
      write([
        ['1.0.0.0/8', { country_code: 'ES', padding: short }],
        ['2.0.0.0/8', { country_code: 'PT' }],
        ['3.0.0.0/8', Buffer.from([0x28, 0, 2104 - 2048])],
        ['4.0.0.0/8', bytes(600_000)],
        ['5.0.0.0/8', 'IT'],
        ['6.0.0.0/8', Buffer.concat([Buffer.from([0x30]), packUint24(2104 + 17 + 3 + 600_004 - 526_336)])],
      ]),
    );
    expect(['1.1.1.1', '3.3.3.3', '4.4.4.4', '6.6.6.6'].map(lookup)).toEqual(['ES', 'PT', null, 'IT']);
  });

  it('reads countries of the whole world from the bundled file', () => {
    const require = createRequire(import.meta.url);
    const file = readFileSync(require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'));
    const started = performance.now();
    const { lookup, metadata, nodeCount } = openCountryDatabase(file);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(
      [
        '8.8.8.8',
        '1.0.1.1',
        '193.99.144.80',
        '2001:4860:4860::8888',
        '2a02:2e0::1',
        '10.0.0.1',
        '::1',
        '127.0.0.1',
      ].map(lookup),
    ).toEqual(['US', 'CN', 'DE', 'US', 'DE', null, null, null]);
    expect(nodeCount).toBeGreaterThan(100_000);
    expect(metadata.ipVersion).toBe(6);
  });

  it.each([4, 6] as const)(
    'lists the prefixes of a country in a tree of IPv%i, in the order of addresses',
    (ipVersion) => {
      const entries: [string, Value][] = [
        ['1.0.0.0/8', 'AA'],
        ['10.1.0.0/16', 'BB'],
        ['192.0.2.7/32', 'AA'],
        ...(ipVersion === 6 ? [['2001:db8::/32', 'AA'] satisfies [string, Value]] : []),
      ];
      const { prefixes } = openCountryDatabase(write(entries, { ipVersion }));
      const more = ipVersion === 6 ? ['2001:db8::/32'] : [];
      expect(prefixes('AA')).toEqual(['1.0.0.0/8', '192.0.2.7/32', ...more]);
      expect(prefixes('BB')).toEqual(['10.1.0.0/16']);
      expect(prefixes('CC')).toEqual([]);
    },
  );

  it('lists the prefixes of the bundled file so that they hold what it finds, and nothing else', () => {
    const { lookup, prefixes } = openCountryDatabase(readBundledCountryFile());
    const listed = ['CN', 'DE', 'LI'].map((country) => ({
      country,
      cidrs: prefixes(country).map((text) => parseCidr(text)!),
    }));
    for (const { country, cidrs } of listed) {
      expect(cidrs.length).toBeGreaterThan(10);
      for (const cidr of cidrs) expect(lookup(formatIp(cidr))).toBe(country);
    }
    for (const address of ['8.8.8.8', '1.0.1.1', '193.99.144.80', '2001:4860:4860::8888', '2a02:2e0::1', '10.0.0.1']) {
      const found = listed.filter(({ cidrs }) => cidrs.some((cidr) => cidrContains(cidr, parseIp(address)!)));
      const country = lookup(address);
      expect(found.map((one) => one.country)).toEqual(
        country !== null && 'CN DE LI'.includes(country) ? [country] : [],
      );
    }
  });
});

describe('database of autonomous systems', () => {
  it.each([
    ['GeoLite2', { autonomous_system_number: 13_335, autonomous_system_organization: 'Cloudflare' }, 'Cloudflare'],
    ['text', { asn: 'AS13335', name: 'Cloudflare' }, 'Cloudflare'],
    ['a number alone', { asn: 13_335 }, null],
  ] satisfies [string, Value, string | null][])('reads records of %s', (_, record, organization) => {
    const file = write([
      ['1.1.1.0/24', record],
      ['2.0.0.0/8', { asn: 0 }],
    ]);
    const database = openAsnDatabase(file);
    expect(database.system('1.1.1.1')).toEqual({ number: 13_335, organization });
    for (const lookup of [database.lookup, openAsnLookup(file)]) {
      expect(['1.1.1.1', '::ffff:1.1.1.1', '2.1.1.1', '9.9.9.9', 'x'].map(lookup)).toEqual([
        13_335,
        13_335,
        null,
        null,
        null,
      ]);
    }
  });

  it('refuses a database of another kind, and hostile ones', () => {
    expect(() => openAsnDatabase(write([['1.0.0.0/8', 'DE']]))).toThrow('no autonomous system');
    expect(() => openAsnDatabase(write([['1.0.0.0/8', { asn: fan(6) }]]))).toThrow(GeoDatabaseError);
    expect(() => openAsnDatabase(Buffer.from('<html>'))).toThrow(GeoDatabaseError);
    expect(() => openAsnLookup(write([['1.0.0.0/8', 'DE']]))).toThrow('no autonomous system');
    expect(() => openAsnLookup(Buffer.from('<html>'))).toThrow(GeoDatabaseError);
  });
});

describe('a hostile country database', () => {
  it.each([
    ['nothing', Buffer.alloc(0), 'no metadata'],
    ['a page of HTML', Buffer.from('<html>Not found</html>'), 'no metadata'],
    [
      'another version',
      write([['1.0.0.0/8', 'DE']], { metadata: { binary_format_major_version: 3 } }),
      'format version',
    ],
    ['a strange record size', write([['1.0.0.0/8', 'DE']], { metadata: { record_size: 20 } }), 'record size'],
    ['a strange IP version', write([['1.0.0.0/8', 'DE']], { metadata: { ip_version: 5 } }), 'IP version'],
    ['too many nodes', write([['1.0.0.0/8', 'DE']], { metadata: { node_count: 4_000_000_000 } }), 'more nodes'],
    ['no nodes', write([['1.0.0.0/8', 'DE']], { metadata: { node_count: 0 } }), 'no nodes'],
    ['metadata without values', write([['1.0.0.0/8', 'DE']], { metadata: { node_count: 'many' } }), 'no nodes'],
    ['a pointer to itself', write([['1.0.0.0/8', Buffer.from([0x20, 0])]]), 'pointer to a pointer'],
    ['a map that holds itself', write([['1.0.0.0/8', { a: Buffer.from([0x20, 0]) }]]), 'nest too deep'],
    ['a fan of arrays', write([['1.0.0.0/8', fan(5)]]), 'more values'],
    ['a text beyond the end', write([['1.0.0.0/8', Buffer.from([(2 << 5) | 29, 255])]]), 'beyond the end'],
    ['a text without end', write([['1.0.0.0/8', Buffer.from([(2 << 5) | 31, 255, 255, 255])]]), 'too long'],
    ['a map without end', write([['1.0.0.0/8', Buffer.from([(7 << 5) | 31, 255, 255, 255])]]), ''],
    ['a pointer beyond the end', write([['1.0.0.0/8', Buffer.from([0x38, 255, 255, 255, 255])]]), 'beyond the end'],
    ['a type nobody knows', write([['1.0.0.0/8', Buffer.from([0, 200])]]), 'no such value'],
    ['records without a country', write([['1.0.0.0/8', { asn: 1 }]]), 'no country'],
  ])('refuses %s', (_, file, message) => {
    expect(refusal(file)).toContain(message);
  });

  it('refuses a record that points into the separator or behind the data', () => {
    for (const record of [40, 0xffffff]) {
      const file = write([['1.0.0.0/8', 'DE']], { ipVersion: 4 });
      file.writeUIntBE(record < 100 ? 8 + 5 : record, 7 * 6 + 3, 3);
      expect(refusal(file)).toContain('outside the data');
    }
  });

  it('finds no data in a tree that leads back into itself', () => {
    const file = write(
      [
        ['1.0.0.0/8', 'DE'],
        ['2.0.0.0/8', 'FR'],
      ],
      { ipVersion: 4 },
    );
    file.writeUIntBE(0, 3, 3);
    const { lookup } = openCountryDatabase(file);
    expect(lookup('255.255.255.255')).toBeNull();
    expect(lookup('1.1.1.1')).toBe('DE');
  });

  it('neither hangs nor throws another error, however a file is damaged', () => {
    const good = write([
      ['1.2.3.0/24', geolite('DE')],
      ['10.0.0.0/8', ['telegram', 'FR']],
      ['2001:db8::/32', { country_code: 'JP' }],
      ['128.0.0.0/1', 'US'],
    ]);
    const change = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) });
    const cut = fc.option(fc.nat(good.length), { freq: 3 });
    const move = fc.option(fc.tuple(fc.nat(good.length - 1), fc.nat(good.length - 1), fc.nat(40)), { freq: 3 });
    let opened = 0;
    let refused = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), cut, move, (changes, end, moved) => {
        let file = Buffer.from(good);
        for (const { at, byte } of changes) file[at] = byte;
        if (moved) good.copy(file, moved[0], moved[1], moved[1] + moved[2]);
        if (end !== null) file = file.subarray(0, end);
        const started = performance.now();
        const database = tryOpen(file);
        if (database) {
          opened++;
          for (const ip of ['1.2.3.4', '10.1.1.1', '2001:db8::1', 'ffff::1', '255.255.255.255', '0.0.0.0']) {
            expect(database.lookup(ip) ?? 'XX').toMatch(/^[A-Z]{2}$/);
          }
        } else {
          refused++;
        }
        expect(performance.now() - started).toBeLessThan(3000);
      }),
      { numRuns: 5000 },
    );
    expect(opened).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });

  it('refuses a real file that was cut', () => {
    const require = createRequire(import.meta.url);
    const whole = readFileSync(
      require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv4.mmdb'),
    );
    for (const share of [0.1, 0.5, 0.9, 0.9999]) {
      expect(() => openCountryDatabase(whole.subarray(0, Math.floor(whole.length * share)))).toThrow(GeoDatabaseError);
    }
    const tail = whole.subarray(Math.floor(whole.length / 2));
    expect(() => openCountryDatabase(tail)).toThrow(GeoDatabaseError);
  });
});

function tryOpen(file: Buffer): CountryDatabase | null {
  try {
    return openCountryDatabase(file);
  } catch (error) {
    if (error instanceof GeoDatabaseError) return null;
    throw error;
  }
}

/** Ten times ten times ten... references to one text, written in a few bytes. */
function fan(depth: number): Buffer {
  const parts: Buffer[] = [];
  let offset = 2 * 10 + 2;
  const first = Buffer.concat([control(11, 10), ...Array.from({ length: 10 }, () => Buffer.from([0x20, offset]))]);
  parts.push(first);
  for (let i = 0; i < depth; i++) {
    offset += 22;
    const at = Math.min(offset, 2047);
    parts.push(
      Buffer.concat([control(11, 10), ...Array.from({ length: 10 }, () => Buffer.from([0x20 | (at >> 8), at & 255]))]),
    );
  }
  parts.push(encode('DE'));
  return Buffer.concat(parts);
}
