import { mkdtempSync, rmSync, writeFileSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { KernelLauncher, type FoundKernel } from './kernel-launcher.js';
import { OwnSpools } from './own-spools.js';

const home = mkdtempSync(join(tmpdir(), 'spools-'));
afterEach(() => rmSync(home, { recursive: true, force: true }));

function placesWith(spools: OwnSpools, wanted: number, most = 64): string[] {
  let places: readonly FoundKernel[] = [];
  new KernelLauncher(undefined, [], spools).find((found) => (places = found), { wanted, most })();
  return places.map(({ place }) => place);
}

it('starts those kernels once more that left records, if there may be several', () => {
  const spools = new OwnSpools({ home, port: 8080 });
  expect([spools.highestLeft(), placesWith(spools, 2)]).toEqual([0, ['own', 'own-2']]);
  for (const descriptor of spools.filesOf(3) ?? []) closeSync(descriptor);
  expect(spools.highestLeft()).toBe(0);
  const folder = join(home, 'kernel-records');
  writeFileSync(join(folder, 'records-8080-3-b'), 'a record\n');
  writeFileSync(join(folder, 'records-9090-7-a'), 'of another service\n');
  expect(spools.highestLeft()).toBe(3);
  expect(placesWith(spools, 1)).toEqual(['own', 'own-2', 'own-3']);
  expect(placesWith(spools, 1, 1)).toEqual(['own']);
});
