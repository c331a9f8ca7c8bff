import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CompilerWatch } from './compiler-watch.js';

let folder: string;
let notes: string[];
let compiled: number;
let watch: CompilerWatch;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'compiler-'));
  mkdirSync(join(folder, 'part', 'src'), { recursive: true });
  const options = { composite: true, rootDir: 'src', outDir: 'dist', types: [] };
  writeFileSync(join(folder, 'part', 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['src'] }));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ files: [], references: [{ path: 'part' }] }));
  [notes, compiled] = [[], 0];
  watch = new CompilerWatch({ folder, notify: (line) => notes.push(line), onCompiled: () => (compiled += 1) });
});
afterEach(() => {
  watch.stop();
  rmSync(folder, { recursive: true });
});

/** Saves a file, and saves it again while that is not seen: the compiler misses a change while it begins to watch. */
async function save(file: string, text: string, isSeen: () => boolean): Promise<void> {
  for (let attemptsLeft = 6; ; attemptsLeft--) {
    writeFileSync(file, text);
    try {
      await waitFor(isSeen, { timeoutMs: 10_000 });
      return;
    } catch (error) {
      if (attemptsLeft === 1) throw error;
    }
  }
}

it('compiles what changes, says what is wrong, and goes on', async () => {
  const source = join(folder, 'part', 'src', 'a.ts');
  const result = join(folder, 'part', 'dist', 'a.js');
  writeFileSync(source, 'export const a: number = 1;');
  watch.start();
  await waitFor(() => compiled > 0, { timeoutMs: 40_000 });
  await save(source, "export const a: number = 'one';", () =>
    notes.some((line) => line.startsWith('[compiler] 1 error;')),
  );
  expect(notes[0]).toMatch(/^part\/src\/a\.ts\(1,14\): error TS2322/);
  const before = compiled;
  await save(
    source,
    'export const a: number = 22;',
    () => compiled > before && readFileSync(result, 'utf8').includes('22'),
  );
}, 180_000);
