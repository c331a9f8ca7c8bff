import { describe, expect, it } from 'vitest';
import { checkFolders, unlisted } from './check-folders.js';
import { FOLDER_LAYERS, PROCESS_FOLDERS, WITHOUT_LAYERS } from './folder-layers.js';
import { readWorkspace } from './read-workspace.js';

const LAYERS = { 'apps/a': [['ground'], ['middle', 'beside'], ['roof']] };

function breachesOf(file: string, source: string): string[] {
  return checkFolders({ files: new Map([[file, source]]) }, LAYERS, { 'apps/a': ['beside'] }).map(
    ({ message }) => message,
  );
}

describe('folders', () => {
  it('import from the layers below their own', () => {
    const workspace = readWorkspace();
    expect(checkFolders(workspace, FOLDER_LAYERS, PROCESS_FOLDERS)).toEqual([]);
    expect(unlisted(workspace, FOLDER_LAYERS, WITHOUT_LAYERS)).toEqual([]);
  });

  it.each([
    ['upwards', 'apps/a/src/ground/x.ts', `import { y } from '../roof/y.js';`, 'ground may not import roof'],
    ['sideways', 'apps/a/src/middle/x.ts', `export { y } from '../beside/y.js';`, 'middle may not import beside'],
    ['from deep inside', 'apps/a/src/ground/deep/x.ts', `import '../../middle/y.js';`, 'ground may not import middle'],
    ['to another process', 'apps/a/src/roof/x.ts', `import { y } from '../beside/y.js';`, 'a process of its own'],
    ['an unknown folder', 'apps/a/src/new/x.ts', ``, 'the folder new is in no layer'],
  ])('fail on an import that goes %s', (_, file, source, message) => {
    expect(breachesOf(file, source)).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['values from below', 'apps/a/src/roof/x.ts', `import { y } from '../ground/y.js';`],
    ['types from above', 'apps/a/src/ground/x.ts', `import type { Y } from '../roof/y.js';`],
    ['a file beside the folders', 'apps/a/src/ground/x.ts', `import { y } from '../settings.js';`],
    ['their own files', 'apps/a/src/ground/deep/x.ts', `import { y } from '../y.js';`],
    ['anything in a spec', 'apps/a/src/ground/x.spec.ts', `import { y } from '../roof/y.js';`],
  ])('may import %s', (_, file, source) => {
    expect(breachesOf(file, source)).toEqual([]);
  });

  it('are all listed, and no others', () => {
    const files = new Map([
      ['apps/a/src/ground/x.ts', ''],
      ['libs/b/src/c/x.ts', ''],
    ]);
    expect(unlisted({ files }, { 'apps/a': [['ground', 'gone']] }, [])).toEqual(['libs/b', 'apps/a/src/gone']);
    expect(unlisted({ files }, { 'apps/a': [['ground']] }, ['libs/b'])).toEqual([]);
  });
});
