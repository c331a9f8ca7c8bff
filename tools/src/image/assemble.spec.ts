import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { assemble } from '../../image/assemble.mjs';

/** Paths of files and links, relative to the folder. */
function filesBelow(folder: string, below = ''): string[] {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(below, entry.name);
    return entry.isDirectory() ? filesBelow(folder, name) : [name];
  });
}

describe('assemble', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-image-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const put = (name: string): void => {
    const file = path.join(folder, 'from', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name);
  };
  const list = (): string[] => filesBelow(path.join(folder, 'out')).sort();

  it('keeps what runs, with its licences, and leaves out everything else', () => {
    for (const name of [
      'package.json',
      'node_modules/.package-lock.json',
      'node_modules/.bin/tool',
      'node_modules/a/index.js',
      'node_modules/a/index.js.map',
      'node_modules/a/index.d.ts',
      'node_modules/a/LICENSE.md',
      'node_modules/a/README.md',
      'node_modules/a/test/a.js',
      'node_modules/a/lib/test/needed.js',
      'node_modules/a/node_modules/b/index.cjs',
      'node_modules/@s/c/index.mjs',
      'apps/one/package.json',
      'apps/one/schemas.json',
      'apps/one/data/sql/rows.sql',
      'apps/one/tsconfig.json',
      'apps/one/src/main.ts',
      'apps/one/test/main.ts',
      'apps/one/dist/main.js',
      'apps/one/dist/main.js.map',
      'apps/one/dist/notices.d.ts',
      'apps/one/dist/notes.fixture.js',
      'apps/one/dist/.tsbuildinfo',
      'apps/one/node_modules/d/index.js',
      'libs/used/package.json',
      'libs/used/dist/index.js',
      'libs/testing/package.json',
      'tools/run.mjs',
      'tools/tsconfig.json',
      'tools/src/cli.ts',
      'tools/dist/cli.js',
      'tools/dist/cli.js.map',
      'tools/dist/cli.d.ts',
      'tools/dist/database/rows.spec.js',
      'tools/dist/database/rows.js',
      'tools/bootstrap/failure.mjs',
      'tools/bootstrap/failure.d.mts',
      'tools/image/assemble.mjs',
    ])
      put(name);
    mkdirSync(path.join(folder, 'from/node_modules/@own'));
    for (const name of ['libs/used', 'libs/testing', 'apps/one']) {
      symlinkSync(`../../${name}`, path.join(folder, 'from/node_modules/@own', path.basename(name)));
    }
    assemble(path.join(folder, 'from'), path.join(folder, 'out'));
    expect(list()).toEqual([
      'app/apps/one/data/sql/rows.sql',
      'app/apps/one/dist/main.js',
      'app/apps/one/package.json',
      'app/apps/one/schemas.json',
      'app/libs/used/dist/index.js',
      'app/libs/used/package.json',
      'app/package.json',
      'app/tools/bootstrap/failure.mjs',
      'app/tools/dist/cli.js',
      'app/tools/dist/database/rows.js',
      'packages/apps/one/node_modules/d/index.js',
      'packages/node_modules/@own/used',
      'packages/node_modules/@s/c/index.mjs',
      'packages/node_modules/a/LICENSE.md',
      'packages/node_modules/a/index.js',
      'packages/node_modules/a/lib/test/needed.js',
      'packages/node_modules/a/node_modules/b/index.cjs',
    ]);
    expect(readlinkSync(path.join(folder, 'out/packages/node_modules/@own/used'))).toBe('../../libs/used');
  });
});
