import { hashPassword } from '@gatehouse/auth';
import { expect, it } from 'vitest';

// `vitest.config.ts` arranges this. If it stopped working, only the time that all tests take would say so.
it('libraries are loaded as they are built, and the set-up of tests applies to them', async () => {
  expect(import.meta.resolve('@gatehouse/auth')).toMatch(/\/libs\/auth\/dist\/index\.js$/);
  // Of `libs/testing/src/cheap-hashes.ts`.
  expect(await hashPassword('x')).toContain('$m=64,');
});
