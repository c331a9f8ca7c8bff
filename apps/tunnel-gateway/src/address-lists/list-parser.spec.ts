import { formatIp, parseIp } from '@gatehouse/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseList, type ParsedList } from './list-parser.js';

async function parsed(text: string, maxEntries?: number): Promise<ParsedList> {
  const list = await parseList(text, maxEntries);
  if (list === null) throw new Error('too many entries');
  return list;
}

function has({ set }: ParsedList, text: string): boolean {
  const address = parseIp(text);
  return address !== null && set.has(address);
}

describe('a list', () => {
  it('has addresses, networks and ranges, with comments between them', async () => {
    const list = await parsed(
      '\uFEFF# blocked\r\n192.0.2.1\r\n\r\n 10.0.0.0/8 ; SBL1\n2001:db8::/32#x\n203.0.113.1 - 203.0.113.9\n;\n::1',
    );
    expect(list).toMatchObject({ entries: 5, badLineCount: 0, badLines: [] });
    for (const inside of ['192.0.2.1', '10.9.9.9', '2001:db8::7', '203.0.113.5', '::1']) {
      expect(has(list, inside), inside).toBe(true);
    }
    for (const outside of ['192.0.2.2', '11.0.0.0', '203.0.113.10', '::2']) expect(has(list, outside)).toBe(false);
  });

  it('counts lines that it cannot read, and keeps the first of them', async () => {
    const long = '1'.repeat(10_000);
    const list = await parsed(`example.org\n10.1.2.3/8\n\n192.0.2.1\n<p>\0</p>\n${long}\n1-2\n300.0.0.1\n`);
    expect([list.entries, list.badLineCount]).toEqual([1, 6]);
    expect(list.badLines).toEqual([
      { line: 1, text: 'example.org' },
      { line: 2, text: '10.1.2.3/8' },
      { line: 5, text: '<p>\uFFFD</p>' },
      { line: 6, text: '1'.repeat(80) },
      { line: 7, text: '1-2' },
    ]);
  });

  it('is refused as a whole beyond its bound', async () => {
    expect((await parsed('10.0.0.1\n10.0.0.1\n', 2)).entries).toBe(2);
    expect(await parseList('10.0.0.1\n10.0.0.2\n10.0.0.3', 2)).toBe(null);
  });

  it('never loses an entry or a line, whatever is around it', async () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6()).map((text) => {
      const ip = parseIp(text);
      return ip === null ? '192.0.2.1' : formatIp(ip);
    });
    const bad = fc.constantFrom('x', '10.0.0.1/33', '10.0.0.300', '1.2.3.4 5.6.7.8', '-', '/8', '10.0.0.2-10.0.0.1');
    const line = fc.record({
      entry: fc.option(fc.oneof(address, bad), { nil: null }),
      before: fc.constantFrom('', ' ', '\t'),
      after: fc.constantFrom('', ' ', ' # a note', ';10.9.8.7', '#'),
      end: fc.constantFrom('\n', '\r\n'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.boolean(), async (lines, mark) => {
        const text = lines.map(({ entry, before, after, end }) => `${before}${entry ?? ''}${after}${end}`).join('');
        const list = await parsed(mark ? `\uFEFF${text}` : text);
        const entries = lines.flatMap(({ entry }) => (entry === null ? [] : [entry]));
        const good = entries.filter((entry) => parseIp(entry) !== null);
        expect(list.entries).toBe(good.length);
        expect(list.badLineCount).toBe(entries.length - good.length);
        for (const entry of good) expect(has(list, entry), entry).toBe(true);
        expect(list.set.size).toBeLessThanOrEqual(good.length);
      }),
      { numRuns: 200 },
    );
  });

  it('never throws, whatever a server sends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const list = await parsed(text);
        expect(list.badLines.length).toBe(Math.min(5, list.badLineCount));
      }),
    );
  });
});
