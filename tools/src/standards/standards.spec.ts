import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { heldClauses } from './standards.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

it('every clause of docs/standards.md names a test that exists', () => {
  const clauses = heldClauses(read('docs/standards.md'));
  expect(new Set(clauses.map(({ standard }) => standard)).size).toBeGreaterThanOrEqual(10);
  const missing = clauses.filter(({ file, test }) => file !== undefined && !read(file).includes(`'${test}'`));
  expect(missing).toEqual([]);
});
