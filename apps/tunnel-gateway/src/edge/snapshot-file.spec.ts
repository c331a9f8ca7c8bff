import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ConfigRows } from '../common/config-rows.js';
import { SnapshotFile } from './snapshot-file.js';

const rows = (revision: number): ConfigRows => {
  return { revision, clients: [], tunnels: [], hosts: [], ipRules: [], policies: [] };
};

it('a failed write of a snapshot does not prevent later writes', async () => {
  const home = mkdtempSync(join(tmpdir(), 'snapshot-'));
  const folder = join(home, 'tunnel-gateway');
  // Where the folder belongs is something else, as a disk may be full for a while.
  writeFileSync(folder, '');
  const file = new SnapshotFile(join(folder, 'snapshot.json'));
  await expect(file.write(rows(1))).rejects.toThrow();
  rmSync(folder);
  await file.write(rows(2));
  expect((await file.read())?.revision).toBe(2);
  rmSync(home, { recursive: true });
});
