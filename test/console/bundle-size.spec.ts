import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const SITE = fileURLToPath(new URL('../../apps/console/dist/site/', import.meta.url));
/** Bytes on the wire: what a phone reads in a second at 4 Mbit/s, with time left for everything else. */
const MOST = 60 * 1024;
/** For all scripts that a page can come to load, with the words of both languages; it loads half of that at first. */
const MOST_FOR_PAGE = 120 * 1024;

interface Chunk {
  file: string;
  isEntry?: true;
  imports?: string[];
  dynamicImports?: string[];
}

const onTheWire = (file: string): number => gzipSync(readFileSync(SITE + file)).length;

/** The scripts of a page: what it loads at once, and what it can come to load. */
function scriptsOf(manifest: Readonly<Record<string, Chunk>>, entry: string): string[] {
  const names = new Set([entry]);
  for (const name of names) {
    for (const next of [...(manifest[name]?.imports ?? []), ...(manifest[name]?.dynamicImports ?? [])]) names.add(next);
  }
  return [...names].flatMap((name) => manifest[name]?.file ?? []).filter((file) => file.endsWith('.js'));
}

it('no file of a console is larger than 60 KiB on the wire', () => {
  const sizes = readdirSync(`${SITE}assets`).map((name) => [name, onTheWire(`assets/${name}`)] as const);
  expect(sizes.length).toBeGreaterThan(10);
  expect(sizes.filter(([, size]) => size > MOST)).toEqual([]);
});

it('all scripts of a page together are no larger than 120 KiB on the wire', async ({ annotate }) => {
  const manifest = JSON.parse(readFileSync(`${SITE}.vite/manifest.json`, 'utf8')) as Record<string, Chunk>;
  const entries = Object.keys(manifest).filter((name) => manifest[name]?.isEntry);
  expect(entries).toHaveLength(4);
  const sizes = entries.map((entry) => ({
    entry,
    size: scriptsOf(manifest, entry).reduce((sum, file) => sum + onTheWire(file), 0),
  }));
  for (const { entry, size } of sizes) await annotate(`${entry}: ${(size / 1024).toFixed(1)} KiB`);
  expect(sizes.filter(({ size }) => size > MOST_FOR_PAGE)).toEqual([]);
});
