import { readFileSync } from 'node:fs';
import { ERROR_CATALOGUE } from '@gatehouse/contracts';
import { expect, it } from 'vitest';

const FILE = new URL('../../../../docs/errors.md', import.meta.url);

/** Rows `| CODE | status | meaning |`, whatever their spacing. */
function documented(): string[] {
  const rows = readFileSync(FILE, 'utf8').matchAll(/^\|\s*`([A-Z_]+)`\s*\|\s*(\d{3})\s*\|\s*(.*?)\s*\|$/gm);
  return [...rows].map(([, code, status, title]) => `${code} ${status} ${title}`);
}

it('docs/errors.md and the catalogue list the same codes, statuses and meanings', () => {
  const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { status, title }]) => `${code} ${status} ${title}`);
  const listed = documented();
  expect(
    catalogue.filter((row) => !listed.includes(row)),
    'missing from docs/errors.md',
  ).toEqual([]);
  expect(
    listed.filter((row) => !catalogue.includes(row)),
    'not in error-codes.ts',
  ).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

it('every code has a status of an error', () => {
  for (const { status } of Object.values(ERROR_CATALOGUE)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  }
});
