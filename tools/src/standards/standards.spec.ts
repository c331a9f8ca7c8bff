import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { heldClauses } from './standards.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const runs = (text: string, test: string): boolean => {
  const [before, after] = text.split(`'${test}'`);
  return after !== undefined && !/\.(skip|todo|skipIf\(.*\))\(\s*$/.test(before ?? '');
};

it('every clause of docs/standards.md names a test that exists and is not skipped', () => {
  const clauses = heldClauses(read('docs/standards.md'));
  expect(new Set(clauses.map(({ standard }) => standard)).size).toBeGreaterThanOrEqual(10);
  const missing = clauses.filter(({ file, test }) => file !== undefined && !runs(read(file), test));
  expect(missing).toEqual([]);
});

it('every scenario of docs/tunnel-scenarios.md names a test that exists and is not skipped, or a reason', () => {
  const scenarios = heldClauses(read('docs/tunnel-scenarios.md')).filter(({ clause }) => clause !== 'part');
  const counts = ['frp', 'chisel', 'newt'].map((name) => scenarios.filter(({ standard }) => standard === name).length);
  expect(counts.every((count) => count > 10)).toBe(true);
  const missing = scenarios.filter(({ file, test }) => file !== undefined && !runs(read(file), test));
  expect(missing).toEqual([]);
});
