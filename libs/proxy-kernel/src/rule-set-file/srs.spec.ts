import { deflateSync } from 'node:zlib';
import { parseIp } from '@gatehouse/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ParsedRuleSet, RuleSetFileError, parseRuleSet } from './index.js';
import { encodeTrie } from './succinct-trie.fixture.js';

type Behavior = 'domain' | 'ipcidr' | 'classical';
interface PlainRule {
  domain?: string[];
  domain_suffix?: string[];
  domain_keyword?: string[];
  ip_cidr?: string[];
  port?: number[];
  port_range?: string[];
  invert?: boolean;
}

const read = (file: Buffer, behavior: Behavior = 'classical'): ParsedRuleSet =>
  parseRuleSet(file, { format: 'sing-box', behavior });

const uvarint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
};
const list = (items: readonly Buffer[]): Buffer => Buffer.concat([uvarint(items.length), ...items]);
const text = (value: string): Buffer => counted(Buffer.from(value), 1);
const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const item = (kind: number, ...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from([kind]), ...parts]);
const END = 0xff;

function trie(names: readonly string[]): Buffer {
  const { leaves, bitmap, labels } = encodeTrie(names);
  return Buffer.concat([Buffer.from([0]), counted(leaves, 8), counted(bitmap, 8), counted(labels, 1)]);
}

/** Behind the number of its items, which have `size` bytes each. */
const counted = (bytes: Buffer, size: number): Buffer => Buffer.concat([uvarint(bytes.length / size), bytes]);

function address(ip: string): Buffer {
  const parsed = parseIp(ip);
  if (!parsed) throw new Error(ip);
  const bytes = Buffer.alloc(parsed.words.length * 4);
  for (const [i, word] of parsed.words.entries()) bytes.writeUInt32BE(word >>> 0, i * 4);
  return Buffer.concat([uvarint(bytes.length), bytes]);
}

function ranges(...of: [string, string][]): Buffer {
  const count = Buffer.alloc(8);
  count.writeUInt32BE(of.length, 4);
  return Buffer.concat([Buffer.from([1]), count, ...of.flatMap(([from, to]) => [address(from), address(to)])]);
}

/** `version` 1 has two keys for a suffix, later ones a mark. */
function names(rule: PlainRule, version: number): string[] {
  const suffix = (name: string): string[] => {
    if (name.startsWith('.')) return [`\r${name}`];
    return version === 1 ? [name, `\r.${name}`] : [`\n${name}`];
  };
  return [...(rule.domain ?? []), ...(rule.domain_suffix ?? []).flatMap(suffix)];
}

function plain(rule: PlainRule, version: number): Buffer {
  const keys = names(rule, version);
  return Buffer.concat([
    Buffer.from([0]),
    ...(keys.length > 0 ? [item(2, trie(keys))] : []),
    ...(rule.domain_keyword ? [item(3, list(rule.domain_keyword.map(text)))] : []),
    ...(rule.ip_cidr ? [item(6, ranges(...rule.ip_cidr.map((ip): [string, string] => [ip, ip])))] : []),
    ...(rule.port ? [item(9, list(rule.port.map(uint16)))] : []),
    ...(rule.port_range ? [item(10, list(rule.port_range.map(text)))] : []),
    Buffer.from([END, rule.invert ? 1 : 0]),
  ]);
}

function srs(rules: readonly Buffer[], version = 3): Buffer {
  return packed(list(rules), version);
}

function packed(body: Buffer, version = 3): Buffer {
  return Buffer.concat([Buffer.from('SRS'), Buffer.from([version]), deflateSync(body)]);
}

describe("sing-box's binary rule sets", () => {
  it.each([1, 3] as const)('reads what sing-box has compiled from rules of version %i', (version) => {
    const { entries, errors } = read(Buffer.from(COMPILED[version], 'base64'));
    expect(entries).toEqual(COMPILED_ENTRIES);
    expect(errors.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '4: process_name is not a condition here',
    ]);
  });

  it('reads each rule as the source form has it', () => {
    const name = fc
      .array(fc.constantFrom('a', 'ab', 'b', 'com', 'x-1'), { minLength: 1, maxLength: 3 })
      .map((labels) => labels.join('.'));
    const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
      fc.uniqueArray(value, { minLength: 1, maxLength: 8 });
    const rule = fc
      .record(
        {
          names: fc.uniqueArray(fc.tuple(fc.constantFrom('domain', 'suffix', 'below'), name), {
            minLength: 1,
            maxLength: 8,
            // A trie holds a name once, so another form of the same name would be lost.
            selector: ([, label]) => label,
          }),
          domain_keyword: some(name),
          ip_cidr: some(fc.constantFrom('10.0.0.1', '1.2.3.4', '2001:db8::1')),
          port: some(fc.integer({ min: 1, max: 65_535 })),
          port_range: some(fc.constantFrom('1:100', ':5', '8000:')),
          invert: fc.boolean(),
        },
        { requiredKeys: [] },
      )
      .map(({ names: all, ...rest }): PlainRule => {
        const named = (kind: string): string[] => (all ?? []).filter(([is]) => is === kind).map(([, text]) => text);
        const domain_suffix = [...named('suffix'), ...named('below').map((text) => `.${text}`)];
        const domain = named('domain');
        return { ...rest, ...(domain.length > 0 && { domain }), ...(domain_suffix.length > 0 && { domain_suffix }) };
      });
    const lines = (set: ParsedRuleSet): string[] => set.entries.map(sortedConditions).toSorted();
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), fc.constantFrom(1, 2, 3, 4), (rules, version) => {
        const source = read(Buffer.from(JSON.stringify({ version, rules })));
        const binary = read(
          srs(
            rules.map((each) => plain(each, version)),
            version,
          ),
        );
        expect(lines(binary)).toEqual(lines(source));
        expect(binary.errorCount).toBe(source.errorCount);
      }),
      { numRuns: 500 },
    );
  });

  it('reads rules of rules', () => {
    const inner = [plain({ domain: ['a.com'], port: [80] }, 3), plain({ ip_cidr: ['10.0.0.1'], invert: true }, 3)];
    const logical = (mode: number, invert: number): Buffer =>
      Buffer.concat([Buffer.from([1, mode]), list(inner), Buffer.from([invert])]);
    expect(read(srs([logical(0, 0), logical(1, 1)])).entries).toEqual([
      'AND,((AND,((DOMAIN,a.com),(DST-PORT,80))),(NOT,((IP-CIDR,10.0.0.1/32))))',
      'NOT,((OR,((AND,((DOMAIN,a.com),(DST-PORT,80))),(NOT,((IP-CIDR,10.0.0.1/32))))))',
    ]);
    expect(read(srs([logical(2, 0)])).errors[0]?.message).toMatch('a logical rule needs a mode');
  });

  it('reads sets of names or addresses alone', () => {
    const domains = plain({ domain: ['a.com'], domain_suffix: ['b.com', '.c.com'] }, 2);
    expect(read(srs([domains]), 'domain').entries.toSorted()).toEqual(['+.b.com', '.c.com', 'a.com']);
    const range = Buffer.concat([
      Buffer.from([0]),
      item(6, ranges(['10.0.0.0', '10.255.255.255'], ['1.2.3.5', '1.2.3.6'])),
    ]);
    expect(read(srs([Buffer.concat([range, Buffer.from([END, 0])])]), 'ipcidr').entries).toEqual([
      '10.0.0.0/8',
      '1.2.3.5/32',
      '1.2.3.6/32',
    ]);
    expect(read(srs([domains]), 'ipcidr').errors[0]?.message).toBe('domain is no part of a set of behavior ipcidr');
  });

  it('says which condition it has no word for', () => {
    const kinds: [Buffer, string][] = [
      [item(0, list([uint16(1)])), 'query_type'],
      [item(11, list([text('curl')])), 'process_name'],
      [item(16, trie(['ads.com'])), 'adguard_domain'],
      [item(18, list([Buffer.from([1])])), 'network_type'],
      [item(19), 'network_is_expensive'],
    ];
    const rules = kinds.map(([bytes]) => Buffer.concat([Buffer.from([0]), bytes, Buffer.from([END, 0])]));
    const { entries, errors } = read(srs([...rules, plain({ domain: ['a.com'] }, 3)]));
    expect(entries).toEqual(['DOMAIN,a.com']);
    expect(errors.map(({ message }) => message)).toEqual(kinds.map(([, field]) => `${field} is not a condition here`));
  });

  const nested = (depth: number): Buffer =>
    depth === 0
      ? plain({ domain: ['a.com'] }, 3)
      : Buffer.concat([Buffer.from([1, 0]), list([nested(depth - 1)]), Buffer.from([0])]);
  const oneItem = (...bytes: Buffer[]): Buffer =>
    srs([Buffer.concat([Buffer.from([0]), ...bytes, Buffer.from([END, 0])])]);
  it.each([
    ['nothing behind the name', Buffer.from('SRS'), 'cut short'],
    ['another compression', Buffer.from('SRS\x03abc'), 'not compressed with zlib'],
    ['a newer version', srs([], 9), 'a rule set of version 9'],
    ['a condition of a newer kind', oneItem(item(60)), 'of a kind that is not known (60)'],
    ['a rule of another type', packed(Buffer.from([1, 7, 0, 0])), 'of a type that is not known (7)'],
    ['rules that nest too deeply', srs([nested(12)]), 'nest deeper than 8'],
    ['more rules than it holds', packed(uvarint(2 ** 40)), 'cut short'],
    ['a count without end', packed(Buffer.alloc(20, 0xff)), 'cut short'],
    ['addresses of another version', oneItem(item(6, Buffer.from([9]))), 'addresses of another version'],
    ['a range that ends before it begins', oneItem(item(6, ranges(['2.0.0.0', '1.0.0.0']))), 'ends before'],
    ['a range of two families', oneItem(item(6, ranges(['2.0.0.0', '::1']))), 'ends before'],
  ])('refuses %s', (_, file, message) => {
    expect(() => read(file)).toThrow(RuleSetFileError);
    expect(() => read(file)).toThrow(message);
  });

  it('refuses files that are too large when decompressed', () => {
    const bomb = packed(Buffer.alloc(129 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(200_000);
    expect(() => read(bomb)).toThrow('too large when decompressed');
  });

  it('neither hangs nor throws another error for damaged files', () => {
    const rule = { domain: ['a.com', 'b.example.org'], domain_suffix: ['c.net'], ip_cidr: ['10.0.0.1'], port: [80] };
    const good = list([plain(rule, 3), nested(2)]);
    const change = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) });
    let refused = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), fc.option(fc.nat(good.length)), (changes, end) => {
        const body = Buffer.from(good);
        for (const { at, byte } of changes) body[at] = byte;
        try {
          read(packed(end === null ? body : body.subarray(0, end)));
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

/** Names have no order in a trie, so the alternatives of a condition have none. */
function sortedConditions(line: string): string {
  return line.split(/[()]+/).filter(Boolean).toSorted().join(' ');
}

/** What sing-box 1.12.12 writes with `rule-set compile` for the same four rules, by the version in their source. */
const COMPILED: Readonly<Record<1 | 3, string>> = {
  1:
    'U1JTAXjahI8/SwNBEMXf2xsTbsOBiFinsBOXiWBhvop/4MytilzgUMLlM21lKdr4vSxGLrrhOl8x/BiGx28EDsSQEz8AP9JbSsex' +
    '7db1Nob6ftWEEPqq6vuCRd28Co/u4rWeX92e3YS4rdddG08nvxVAIR6AeDOTL7jpbhzOWb1jlN3CxgHIYtN0WQb+D55TmmWZh1CV' +
    'jp/zb+/KhaouL1RVlgtVA+lwkC0onoMFzabEpWH/5B4mKZW599H4z8XTjLLavLSGnwAAAP//QMdCeg==',
  3:
    'U1JTA3jahI+/SgNBEMa/2R0TbiQg2lmlsBOXiWBhSl/DP7DmVkXu4FDC5Zm2shRsfC+LkZxuuC5fMfwYho/fMBwI28jNAO3rR84n' +
    'qenauEkhPq7qIKGf9b0nH+t3puOHdKsX1/fndyFtYts16Wzy1wB4FgAsZsbfcNNhHM1p9olRhoWNAxD5dd0VF/A/nOYsxeVJKkdf' +
    '8x9x1UJVl5eqysuFqoHI4aBIEAttJchsSrgy7F7cwSTnqtQ+G+25eDkkXq3fGsNvAAAA//8iEEFe',
};
const COMPILED_ENTRIES = [
  'DOMAIN,a.example',
  'DOMAIN,www.b.example',
  'DOMAIN-SUFFIX,c.example',
  'DOMAIN-WILDCARD,*.d.example',
  'DOMAIN-KEYWORD,ads',
  'DOMAIN-REGEX,^e[0-9]+\\.example$',
  'IP-CIDR,10.0.0.0/8',
  'IP-CIDR,192.0.2.7/32',
  'IP-CIDR6,2001:db8::/32',
  'AND,((DOMAIN-SUFFIX,f.example),(OR,((DST-PORT,443),(DST-PORT,8443),(DST-PORT,1000-2000),(DST-PORT,0-100))),(NETWORK,udp))',
  'OR,((AND,((SRC-IP-CIDR,10.1.0.0/16),(SRC-PORT,53))),(NOT,((DOMAIN,g.example))))',
];
