import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('every guarantee in docs/security.md names tests that exist', () => {
  const text = readFileSync(`${ROOT}docs/security.md`, 'utf8');
  const guarantees = text.slice(text.indexOf('## What is guaranteed'), text.indexOf('## What is not guaranteed'));
  const rows = guarantees.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| guarantee'));
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const tests = [...row.matchAll(/`([^`]+\.(?:spec|e2e-spec)\.ts)`/g)].map(([, path = '']) => path);
    expect(tests, row).not.toEqual([]);
    for (const path of tests) expect(existsSync(ROOT + path), path).toBe(true);
  }
});

it('no program lowers the cost of password hashes', () => {
  const sources = globSync('{apps,libs,tools}/**/*.{ts,mjs}', {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**'],
  });
  const users = sources.filter((file) => readFileSync(ROOT + file, 'utf8').includes('makeHashesCheap'));
  expect(users.toSorted()).toEqual([
    'libs/auth/src/index.ts',
    'libs/auth/src/passwords/password-hash.ts',
    'libs/testing/src/cheap-hashes.ts',
  ]);
});
