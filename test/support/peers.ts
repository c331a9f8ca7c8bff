import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Path of a real program that a test runs beside ours, or null: `npm run peers` first, then `PATH`. */
export function findPeer(name: string): string | null {
  const directories = [
    process.env['GATEHOUSE_PEERS_BIN'] ?? path.join(ROOT, '.gatehouse/peers/bin'),
    ...(process.env['PATH'] ?? '').split(path.delimiter),
    '/usr/sbin',
  ];
  return directories.map((directory) => path.join(directory, name)).find((file) => existsSync(file)) ?? null;
}

/** The program, or the end of this test: a failure in CI, elsewhere a skip that says what to do. */
export function requirePeer(context: TestContext, name: string): string {
  const file = findPeer(name);
  if (file) return file;
  if (process.env['CI']) throw new Error(`${name} is not installed: npm run peers`);
  return context.skip(`${name} is not installed: npm run peers`);
}
