import { describe, expect, it } from 'vitest';
import { readRulesArray, readRulesText } from './read-rules.js';

const lines = async (text: string) =>
  (await readRulesText(text)).rules.map(({ line, definition: { type, payload, target } }) => [
    line,
    type,
    payload,
    target,
  ]);

describe('readRulesText', () => {
  it('reads lines, and skips comments and empty ones', async () => {
    const text =
      '# mine\n\n// other\n; third\nDOMAIN,a.example,DIRECT # why\n  DST-PORT,443,PROXY // that\n- MATCH,PROXY\n';
    const read = await readRulesText(text);
    expect(read).toMatchObject({ format: 'text', total: 7, rejected: [] });
    expect(await lines(text)).toEqual([
      [5, 'DOMAIN', 'a.example', 'DIRECT'],
      [6, 'DST-PORT', '443', 'PROXY'],
      [7, 'MATCH', '', 'PROXY'],
    ]);
  });

  it('names each bad line with the reason', async () => {
    const { rules, rejected, total } = await readRulesText(
      `DOMAIN,a.example,DIRECT\nNOSUCH,x,DIRECT\r\nDOMAIN,b.example\nDOMAIN,${'é'.repeat(300)},DIRECT\n`,
    );
    expect(total).toBe(4);
    expect(rules).toHaveLength(1);
    expect(rejected).toMatchObject([
      { index: 1, line: 2, code: 'INVALID_RULE', input: 'NOSUCH,x,DIRECT' },
      { index: 2, line: 3, code: 'INVALID_RULE', input: 'DOMAIN,b.example' },
      { index: 3, line: 4, code: 'INVALID_RULE', input: expect.stringMatching(/^DOMAIN,é{193}$/) },
    ]);
  });

  it.each([
    [
      'the common form',
      'port: 7890\nrules:\n  - DOMAIN,a.example,DIRECT # x\n  # between\n  - "MATCH,My \\"way\\""\nproxies: []\n',
      3,
      5,
    ],
    ['no indentation', "rules:\n- 'DOMAIN,a.example,DIRECT'\n- 'MATCH,My \"way\"'\n", 2, 3],
    ['a flow list', 'a: 1\nrules: ["DOMAIN,a.example,DIRECT",\n  \'MATCH,My "way"\']\n', 2, 3],
    ['aliases and folded lines', 'x: &a DOMAIN,a.example,DIRECT\nrules:\n  - *a\n  - MATCH,My\n    "way"\n', 3, 4],
  ])('reads a Clash document: %s', async (_name, text, first, second) => {
    expect((await readRulesText(text)).format).toBe('clash');
    expect(await lines(text)).toEqual([
      [first, 'DOMAIN', 'a.example', 'DIRECT'],
      [second, 'MATCH', '', 'My "way"'],
    ]);
  });

  it('rejects entries of a Clash list that are not lines, and counts all lines', async () => {
    const read = await readRulesText('rules:\n  - {a: 1}\n  - null\n  - [DOMAIN, x]\n  - MATCH,DIRECT\n');
    expect(read.total).toBe(5);
    expect(read.rejected.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(read.rules).toHaveLength(1);
  });

  it.each([
    ['rules:\n  - "a\n   b: [', 'YAML'],
    ['rules: 5', 'list'],
    ['{"rules": 5}', 'list'],
    ['{"rules": [', 'JSON'],
    [`rules: [${'x,'.repeat(1_100_000)}]`, 'large'],
  ])('refuses %.40j', async (text, word) => {
    await expect(async () => readRulesText(text)).rejects.toThrow(word);
  });

  it('reads only the list of a large document', async () => {
    const proxies = `proxies:\n${'  - {name: a, type: ss}\n'.repeat(5_000)}`;
    expect(await lines(`${proxies}rules: [\n  'DOMAIN,a.example,DIRECT',\n  "MATCH,PROXY"]\nlater: 1\n`)).toEqual([
      [5_003, 'DOMAIN', 'a.example', 'DIRECT'],
      [5_004, 'MATCH', '', 'PROXY'],
    ]);
  });

  it('is not held up by exploding YAML', async () => {
    let bomb = 'a0: &a0 [x,x,x,x,x,x,x,x,x]\n';
    for (let level = 1; level < 12; level++)
      bomb += `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(',')}]\n`;
    const began = performance.now();
    expect((await readRulesText(`${bomb}rules: [*a11, "MATCH,DIRECT"]\n`)).rules).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

it('names each line that is no rule, also where a key makes the text look like YAML', async () => {
  const text = 'DOMAIN,a.example,DIRECT\nnonsense\nrules:\n - MATCH,DIRECT\n - NONE,b,DIRECT';
  const { format, rules, rejected } = await readRulesText(text);
  expect(format).toBe('text');
  expect(rules.map(({ line, definition }) => [line, definition.type])).toEqual([
    [1, 'DOMAIN'],
    [4, 'MATCH'],
  ]);
  expect(rejected.map(({ line, code, input }) => [line, code, input])).toEqual([
    [2, 'INVALID_RULE', 'nonsense'],
    [5, 'INVALID_RULE', ' - NONE,b,DIRECT'],
  ]);
});

describe('hostile text', () => {
  const spaces = ' '.repeat(4_000_000);
  it.each([
    ['spaces after the key', `rules:${spaces}x\n- MATCH,DIRECT`],
    ['spaces in an entry', `rules:\n- MATCH,DIRECT${spaces}x`],
    ['spaces in a line', `MATCH,DIRECT${spaces}x`],
    ['spaces before anything', `${spaces}x`],
    ['an endless quotation', `rules:\n- "${'a'.repeat(4_000_000)}`],
    ['an endless single quotation', `rules:\n- '${"''".repeat(2_000_000)}`],
    ['nested lists', `rules: ${'['.repeat(200_000)}`],
    ['nested mappings', `rules: ${'{a: '.repeat(200_000)}`],
    ['many keys', `a: 1\n`.repeat(150_000) + 'rules: [x]'],
    ['nested JSON', '['.repeat(4_000_000)],
    ['backslashes', `rules:\n- "${'\\'.repeat(4_000_001)}"`],
    ['lines of nothing', '\n'.repeat(4_000_000)],
    ['parentheses', `AND,${'('.repeat(4_000_000)},DIRECT`],
    ['a line without end', `DOMAIN,${'a'.repeat(8_000_000)},DIRECT`],
  ])('%s: read or refused, soon', async (_name, text) => {
    const began = performance.now();
    const outcome = await (async () => readRulesText(text))().catch((error: unknown) => error);
    expect(performance.now() - began).toBeLessThan(3_000);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'INVALID_ARGUMENT' });
    else expect(outcome).toMatchObject({ rules: expect.any(Array) });
  });
});

describe('readRulesArray', () => {
  it('accepts objects and lines independently of each other', async () => {
    const read = await readRulesArray([
      { raw: 'DOMAIN,a.example,DIRECT', enabled: false, note: 'x', priority: 5 },
      'MATCH,DIRECT',
      { type: 'domain', payload: 'b.example', target: 'DIRECT' },
      { type: 'DOMAIN', payload: 'b.example' },
      { raw: 'MATCH,DIRECT', type: 'MATCH' },
      { raw: 'MATCH,DIRECT', colour: 'red' },
      { raw: 'MATCH,DIRECT', enabled: 'yes' },
      { raw: 'MATCH,DIRECT', priority: 1.5 },
      { raw: 'MATCH,DIRECT', note: 5 },
      { raw: 'MATCH,DI\0RECT' },
      7,
      null,
      [],
    ]);
    expect(read.rules).toMatchObject([
      { index: 0, line: null, enabled: false, note: 'x', priority: 5 },
      { index: 1, definition: { type: 'MATCH' } },
      { index: 2, definition: { type: 'DOMAIN', payload: 'b.example' } },
    ]);
    expect(read.rejected.map(({ index }) => index)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(read.total).toBe(13);
  });
});
