import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const ASSETS = fileURLToPath(new URL('../../apps/console/dist/site/assets/', import.meta.url));
/** Bytes on the wire: what a phone reads in a second at 4 Mbit/s, with time left for everything else. */
const MOST = 60 * 1024;

it('no file of a console is larger than 60 KiB on the wire', () => {
  const sizes = readdirSync(ASSETS).map((name) => [name, gzipSync(readFileSync(ASSETS + name)).length] as const);
  expect(sizes.length).toBeGreaterThan(10);
  expect(sizes.filter(([, size]) => size > MOST)).toEqual([]);
});
