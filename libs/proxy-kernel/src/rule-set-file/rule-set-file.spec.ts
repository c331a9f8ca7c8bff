import fc from 'fast-check';
import { zstdCompressSync } from 'node:zlib';
import { parseCidr, parseIp, cidrContains } from '@gatehouse/net';
import { describe, expect, it } from 'vitest';
import { type ParsedRuleSet, RuleSetFileError, parseRuleSet } from './index.js';
import { encodeBits, encodeTrie } from './succinct-trie.fixture.js';

const text = (content: string, behavior: 'domain' | 'ipcidr' | 'classical' = 'domain') =>
  parseRuleSet(Buffer.from(content), { format: 'text', behavior });
const yaml = (content: string, behavior: 'domain' | 'ipcidr' | 'classical' = 'domain') =>
  parseRuleSet(Buffer.from(content), { format: 'yaml', behavior });

describe('rule sets in text and YAML', () => {
  it('reads a text list with comments, a mark of order and both line ends', () => {
    expect(text('\uFEFF# list\r\n+.a.com\r\n\r\n.b.com # below\n// no\nc.com\n*.d.com')).toEqual({
      entries: ['+.a.com', '.b.com', 'c.com', '*.d.com'],
      errors: [],
      errorCount: 0,
    });
    expect(text('10.0.0.0/8\n2001:db8::/32\n1.2.3.4\n', 'ipcidr').entries).toEqual([
      '10.0.0.0/8',
      '2001:db8::/32',
      '1.2.3.4',
    ]);
  });

  it('reads the payload of a provider, plain and quoted, indented or not', () => {
    const entries = ['+.a.com', '.b.com', "it's", '*.c.com'];
    const content = `# made by hand\nversion: 1\npayload:\n  - '+.a.com' # first\n  - ".b.com"\n  - 'c.com'\n  - *.c.com\nother:\n  - ignored.com\n`;
    expect(yaml(content).entries).toEqual(['+.a.com', '.b.com', 'c.com', '*.c.com']);
    expect(yaml("payload:\n- 'DOMAIN-SUFFIX,a.com'\n- IP-CIDR,10.0.0.0/8,no-resolve\n", 'classical').entries).toEqual([
      'DOMAIN-SUFFIX,a.com',
      'IP-CIDR,10.0.0.0/8,no-resolve',
    ]);
    expect(yaml("payload:\n  - 'DOMAIN-REGEX,^it''s'\n", 'classical').entries).toEqual(["DOMAIN-REGEX,^it's"]);
    expect(yaml('payload: []\n').entries).toEqual([]);
    expect(entries).toHaveLength(4);
  });

  it('reports unreadable entries by line and continues', () => {
    expect(text('a.com\nnot a name\nb.com\n')).toEqual({
      entries: ['a.com', 'b.com'],
      errors: [{ line: 2, message: '"not a name" is not a domain name', input: 'not a name' }],
      errorCount: 1,
    });
    const { entries, errors } = yaml(
      'payload:\n  - a.com\n  b.com\n  - {x: y}\n  - &a c.com\n  - "\\x41"\n  - d.com\n',
    );
    expect(entries).toEqual(['a.com', 'd.com']);
    expect(errors.map(({ line, message }) => [line, message])).toEqual([
      [3, 'not an entry of a list'],
      [4, 'not a plain or quoted text'],
      [5, 'not a plain or quoted text'],
      [6, 'an escape that is not known'],
    ]);
    const many = text(Array.from({ length: 500 }, (_, i) => `bad ${i}`).join('\n'));
    expect([many.errors.length, many.errorCount]).toEqual([100, 500]);
    expect(text(`a.com\n${'x'.repeat(100_000)}\nb.com`)).toMatchObject({ entries: ['a.com', 'b.com'], errorCount: 1 });
  });

  it.each([
    ['yaml', 'a.com\nb.com\n', 'no list under payload'],
    ['yaml', 'payload: [a.com]\n', 'one entry a line'],
    ['yaml', '<html></html>', 'no list under payload'],
    ['text', 'a\0b', 'not a text file'],
    ['mrs', 'a.com', 'not compressed with zstd'],
  ] as const)('refuses a %s file %j', (format, content, message) => {
    expect(() => parseRuleSet(Buffer.from(content), { format, behavior: 'domain' })).toThrow(RuleSetFileError);
    expect(() => parseRuleSet(Buffer.from(content), { format, behavior: 'domain' })).toThrow(message);
  });

  it('bounds the number of entries', () => {
    expect(() => parseRuleSet(Buffer.from('a\nb\nc\n'), { format: 'text', behavior: 'domain', maxEntries: 2 })).toThrow(
      'more than 2 entries',
    );
  });
});

const long = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
};

function mrs(behavior: number, count: number, body: Buffer, extra = Buffer.alloc(0)): Buffer {
  return zstdCompressSync(
    Buffer.concat([Buffer.from('MRS\x01'), Buffer.from([behavior]), long(count), long(extra.length), extra, body]),
  );
}

function domainBody(names: readonly string[]): Buffer {
  const { leaves, bitmap, labels } = encodeTrie(names);
  return Buffer.concat([Buffer.from([1]), counted(leaves, 8), counted(bitmap, 8), counted(labels, 1)]);
}

/** Behind the number of its items, which have `size` bytes each. */
const counted = (bytes: Buffer, size: number): Buffer => Buffer.concat([long(bytes.length / size), bytes]);
const words = (bits: readonly boolean[]): Buffer => counted(encodeBits(bits), 8);

const address = (ip: string): Buffer => {
  const parsed = parseIp(ip);
  if (!parsed) throw new Error(ip);
  const bytes = Buffer.alloc(16);
  if (parsed.family === 4) bytes.writeUInt16BE(0xffff, 10);
  for (const [i, word] of parsed.words.entries()) bytes.writeUInt32BE(word, (parsed.family === 4 ? 12 : 0) + i * 4);
  return bytes;
};
const rangesBody = (...ranges: [string, string][]): Buffer =>
  Buffer.concat([
    Buffer.from([1]),
    long(ranges.length),
    ...ranges.flatMap(([from, to]) => [address(from), address(to)]),
  ]);
const read = (file: Buffer, behavior: 'domain' | 'ipcidr' | 'classical' = 'domain'): ParsedRuleSet =>
  parseRuleSet(file, { format: 'mrs', behavior });

describe('rule sets in mihomo form', () => {
  it('reads names: with all below, only those below, one label below, and exact ones', () => {
    const file = mrs(0, 4, domainBody(['a.com', '+.a.com', '+.b.com', 'c.com', '*.d.com']), Buffer.from('extra'));
    expect(read(file).entries.toSorted()).toEqual(['*.d.com', '+.a.com', '.b.com', 'c.com']);
  });

  it('reads back any set of names', () => {
    const name = fc
      .tuple(
        fc.constantFrom('', '*.'),
        fc.array(fc.constantFrom('a', 'ab', 'b', 'com', 'x-1'), { minLength: 1, maxLength: 4 }),
      )
      .map(([start, labels]) => start + labels.join('.'));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 40 }), (names) => {
        expect(read(mrs(0, names.length, domainBody(names))).entries.toSorted()).toEqual(names.toSorted());
      }),
      { numRuns: 300 },
    );
  });

  it('reads ranges of addresses as prefixes', () => {
    const body = rangesBody(
      ['10.0.0.0', '10.255.255.255'],
      ['1.2.3.4', '1.2.3.4'],
      ['1.2.3.5', '1.2.3.10'],
      ['0.0.0.0', '255.255.255.255'],
      ['2001:db8::', '2001:db8::ffff'],
      ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'].slice(0, 2) as [string, string],
    );
    const all = read(mrs(1, 6, body.subarray(0)), 'ipcidr');
    expect(all.entries).toEqual([
      '10.0.0.0/8',
      '1.2.3.4/32',
      '1.2.3.5/32',
      '1.2.3.6/31',
      '1.2.3.8/31',
      '1.2.3.10/32',
      '0.0.0.0/0',
      '2001:db8::/112',
      '::/0',
    ]);
  });

  it('covers exactly the range', () => {
    const ip = fc.nat(0xffff).map((low) => `10.0.${low >> 8}.${low & 255}`);
    const value = (text: string) => parseIp(text)?.words[0] ?? 0;
    fc.assert(
      fc.property(ip, ip, ip, (a, b, probe) => {
        const [from = '', to = ''] = [a, b].toSorted((x, y) => value(x) - value(y));
        const { entries } = read(mrs(1, 1, rangesBody([from, to])), 'ipcidr');
        const parsed = parseIp(probe);
        const inside = entries.some((entry) => {
          const cidr = parseCidr(entry);
          return cidr && parsed && cidrContains(cidr, parsed);
        });
        expect(inside).toBe(value(from) <= value(probe) && value(probe) <= value(to));
        expect(entries.length).toBeLessThan(64);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['another behavior', mrs(1, 0, rangesBody()), 'behavior ipcidr, not domain'],
    ['no behavior', mrs(9, 0, rangesBody()), 'behavior unknown'],
    ['another version', mrs(0, 0, Buffer.from([2])), 'another version'],
    ['another magic', zstdCompressSync(Buffer.from('XYZ\x01\0\0')), 'not an mrs file'],
    ['nothing', zstdCompressSync(Buffer.alloc(0)), 'cut short'],
    ['lengths beyond the end', mrs(0, 1, Buffer.concat([Buffer.from([1]), long(2 ** 40)])), 'cut short'],
    ['a negative length', mrs(0, 1, Buffer.concat([Buffer.from([1]), long(-1)])), 'cut short'],
    [
      'branches that lead in circles',
      mrs(
        0,
        1,
        Buffer.concat([Buffer.from([1]), words([false, true]), words([true, true, false]), long(1), Buffer.from('a')]),
      ),
      'lead nowhere',
    ],
    [
      'more branches than its shape',
      mrs(0, 1, Buffer.concat([Buffer.from([1]), words([]), words([false]), long(80), Buffer.alloc(80, 97)])),
      '',
    ],
    ['a chain without end', mrs(0, 1, domainBody(['a'.repeat(5000)])), 'too long'],
    ['a range that ends before it begins', mrs(1, 1, rangesBody(['2.0.0.0', '1.0.0.0'])), 'ends before'],
  ])('refuses %s', (what, file, message) => {
    const behavior = what.startsWith('a range') ? 'ipcidr' : 'domain';
    expect(() => read(file, behavior)).toThrow(RuleSetFileError);
    expect(() => read(file, behavior)).toThrow(message);
  });

  it('refuses files that are too large when decompressed', () => {
    const bomb = zstdCompressSync(Buffer.alloc(129 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    expect(() => read(bomb)).toThrow('too large when decompressed');
  });

  it('neither hangs nor throws another error for damaged files', () => {
    const good = Buffer.concat([
      Buffer.from('MRS\x01\0'),
      long(3),
      long(0),
      domainBody(['a.com', '+.a.com', 'b.example.org', '*.c.net']),
    ]);
    const change = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) });
    let refused = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), fc.option(fc.nat(good.length)), (changes, end) => {
        const file = Buffer.from(good);
        for (const { at, byte } of changes) file[at] = byte;
        try {
          read(zstdCompressSync(end === null ? file : file.subarray(0, end)));
        } catch (error) {
          if (!(error instanceof RuleSetFileError)) throw error;
          refused++;
        }
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});

describe('rule sets of other programs', () => {
  const singBox = (rules: unknown[], behavior: 'domain' | 'ipcidr' | 'classical' = 'classical', version = 3) =>
    parseRuleSet(Buffer.from(JSON.stringify({ version, rules })), { format: 'sing-box', behavior });

  it('reads the source form of sing-box', () => {
    const names = {
      domain: 'a.com',
      domain_suffix: ['b.com', '.c.com'],
      domain_keyword: ['d'],
      ip_cidr: ['10.0.0.0/8', '::1'],
    };
    expect(singBox([names]).entries).toEqual([
      'DOMAIN,a.com',
      'DOMAIN-SUFFIX,b.com',
      'DOMAIN-WILDCARD,*.c.com',
      'DOMAIN-KEYWORD,d',
      'IP-CIDR,10.0.0.0/8',
      'IP-CIDR6,::1/128',
    ]);
    expect(
      singBox([
        { domain_suffix: ['a.com', 'b.com'], port: 443, port_range: [':100', '8000:9000'], network: 'udp' },
        { domain: 'a.com', invert: true },
        { type: 'logical', mode: 'or', rules: [{ domain: 'a.com', port: 80 }, { source_ip_cidr: '10.0.0.1' }] },
      ]).entries,
    ).toEqual([
      'AND,((OR,((DOMAIN-SUFFIX,a.com),(DOMAIN-SUFFIX,b.com))),(OR,((DST-PORT,443),(DST-PORT,0-100),(DST-PORT,8000-9000))),(NETWORK,udp))',
      'NOT,((DOMAIN,a.com))',
      'OR,((AND,((DOMAIN,a.com),(DST-PORT,80))),(SRC-IP-CIDR,10.0.0.1/32))',
    ]);
    expect(singBox([{ domain: 'a.com', domain_suffix: ['b.com', '.c.com'] }], 'domain').entries).toEqual([
      'a.com',
      '+.b.com',
      '.c.com',
    ]);
    expect(singBox([{ ip_cidr: ['10.0.0.0/8'] }], 'ipcidr').entries).toEqual(['10.0.0.0/8']);
  });

  it('leaves rules out that would match more without what it does not know', () => {
    const { entries, errors } = singBox([
      { domain: 'a.com', process_name: 'x' },
      { wifi_ssid: 'y' },
      {},
      7,
      { port_range: 'x' },
    ]);
    expect(entries).toEqual([]);
    expect(errors.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '1: process_name is not a condition here',
      '2: wifi_ssid is not a condition here',
      '3: a rule without conditions',
      '4: not a rule that can be read',
      '5: "x" is not a range of ports',
    ]);
    expect(singBox([{ domain: 'a.com', port: 1 }], 'domain').errorCount).toBe(1);
    expect(() => singBox([], 'classical', 9)).toThrow(RuleSetFileError);
    expect(() => parseRuleSet(Buffer.from('{'), { format: 'sing-box', behavior: 'domain' })).toThrow(RuleSetFileError);
  });

  it("reads Surge's lists of domains, and lines of Quantumult X with their targets", () => {
    const domains = parseRuleSet(Buffer.from('.a.com\nb.com\n'), { format: 'domain-set', behavior: 'domain' });
    expect(domains.entries).toEqual(['+.a.com', 'b.com']);
    const lines =
      'host-suffix, a.com, Proxy\nHOST,b.com,Proxy\nip6-cidr, 2001:db8::/32, Proxy, no-resolve\nIP-CIDR,10.0.0.0/8,no-resolve\n';
    expect(text(lines, 'classical').entries).toEqual([
      'DOMAIN-SUFFIX,a.com',
      'DOMAIN,b.com',
      'IP-CIDR6,2001:db8::/32,no-resolve',
      'IP-CIDR,10.0.0.0/8,no-resolve',
    ]);
  });
});
