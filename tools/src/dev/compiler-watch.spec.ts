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

it('compiles what changes, says what is wrong, and goes on', async () => {
  const source = join(folder, 'part', 'src', 'a.ts');
  const result = join(folder, 'part', 'dist', 'a.js');
  writeFileSync(source, 'export const a: number = 1;');
  watch.start();
  await waitFor(() => compiled > 0, { timeoutMs: 40_000 });
  writeFileSync(source, "export const a: number = 'one';");
  await waitFor(() => notes.some((line) => line.startsWith('[compiler] 1 error;')), { timeoutMs: 40_000 });
  expect(notes[0]).toMatch(/^part\/src\/a\.ts\(1,14\): error TS2322/);
  const before = compiled;
  writeFileSync(source, 'export const a: number = 22;');
  await waitFor(() => compiled > before && readFileSync(result, 'utf8').includes('22'), { timeoutMs: 40_000 });
}, 120_000);
