import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { interpolate, readComposeFile, startOrder } from './compose-file.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-compose-'));
const file = path.join(folder, 'compose.yml');
afterAll(() => rmSync(folder, { recursive: true }));

describe('interpolate', () => {
  it.each([
    ['${NAME}', { NAME: 'value' }, 'value'],
    ['${NAME}', {}, ''],
    ['${NAME:-default}', {}, 'default'],
    ['${NAME:-default}', { NAME: '' }, 'default'],
    ['${NAME:-default}', { NAME: 'value' }, 'value'],
    ['a ${ONE}:${TWO:-2} b', { ONE: '1' }, 'a 1:2 b'],
    ['${ONE:-${TWO:-2}}:x', {}, '2:x'],
    ['${ONE:-${TWO:-2}}:x', { TWO: 't' }, 't:x'],
    ['${ONE:-${TWO:-2}}:x', { ONE: '1', TWO: 't' }, '1:x'],
    ['${ONE}', { ONE: '${TWO}', TWO: 't' }, '${TWO}'],
    ['no variable, $5 and {braces}', {}, 'no variable, $5 and {braces}'],
  ])('%s with %o is %s', (text, variables, expected) => {
    expect(interpolate(text, variables as Record<string, string>, new Set())).toBe(expected);
  });

  it('collects what must have a value and has none', () => {
    const missing = new Set<string>();
    interpolate('${A:?say it} ${B:?say it} ${C:?say it}', { B: 'b' }, missing);
    expect([...missing]).toEqual(['A', 'C']);
  });
});

describe('readComposeFile', () => {
  it('fills in values that would mean something else in YAML', () => {
    writeFileSync(file, 'services:\n  a:\n    environment:\n      EMPTY: ${EMPTY:-}\n      ODD: ${ODD}\n');
    const { services } = readComposeFile(file, { ODD: 'a: [b' });
    expect(services['a']?.environment).toEqual({ EMPTY: '', ODD: 'a: [b' });
  });

  it('names every missing value at once', () => {
    writeFileSync(file, 'services:\n  a:\n    environment: { A: "${A:?x}", B: "${B:?x}" }\n');
    expect(() => readComposeFile(file, {})).toThrow(expect.objectContaining({ advice: ['missing: A, B'] }));
  });
});

describe('startOrder', () => {
  const after = (...names: string[]) => ({
    depends_on: Object.fromEntries(names.map((name) => [name, { condition: 'service_healthy' }])),
  });

  it('puts each service after those it depends on', () => {
    expect(startOrder({ app: after('db', 'migrate'), migrate: after('db'), db: {} })).toEqual(['db', 'migrate', 'app']);
  });

  it('refuses a circle', () => {
    expect(() => startOrder({ a: after('b'), b: after('a') })).toThrow('a depends on itself');
  });
});
