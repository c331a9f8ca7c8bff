import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { incompleteProjects } from '../../bootstrap/build.mjs';
import { adoptInstalledTree, areDependenciesInstalled } from '../../bootstrap/dependencies.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'repair-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(file: string, content: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), content);
}

describe('an installation', () => {
  const packages = { 'node_modules/pg': { version: '1.0.0', integrity: 'x' }, 'node_modules/a/node_modules/b': {} };
  beforeEach(() => {
    const lock = JSON.stringify({ packages: { '': {}, ...packages } });
    put('package-lock.json', lock);
    put('node_modules/.package-lock.json', JSON.stringify({ packages }));
    put('node_modules/.gatehouse-lock-hash', createHash('sha256').update(lock).digest('hex'));
    for (const path of Object.keys(packages)) put(`${path}/package.json`, '{}');
  });

  it('is there when every package is', () => {
    expect(areDependenciesInstalled(root)).toBe(true);
  });

  it.each([['node_modules/pg'], ['node_modules/a/node_modules/b/package.json'], ['node_modules/.package-lock.json']])(
    'is not there without %s, and is not taken for one that npm made either',
    (path) => {
      rmSync(join(root, path), { recursive: true });
      expect(areDependenciesInstalled(root)).toBe(false);
      expect(adoptInstalledTree(root)).toBe(false);
    },
  );
});

describe('a build', () => {
  beforeEach(() => {
    put('tools/src/main.ts', 'export {};');
    put('tools/src/inner/part.ts', 'export {};');
    put('tools/src/main.spec.ts', '');
    put('tools/src/types.d.ts', '');
    for (const file of ['.tsbuildinfo', 'main.js', 'inner/part.js']) put(`tools/dist/${file}`, 'x');
  });

  it('is whole when each source has its output', () => {
    expect(incompleteProjects(root)).toEqual([]);
  });

  it.each(['.tsbuildinfo', 'main.js', 'inner/part.js'])('is incomplete when %s is gone', (file) => {
    rmSync(join(root, 'tools/dist', file));
    expect(incompleteProjects(root)).toEqual(['tools']);
  });

  it('is incomplete when an output was emptied', () => {
    truncateSync(join(root, 'tools/dist/main.js'));
    expect(incompleteProjects(root)).toEqual(['tools']);
  });
});
