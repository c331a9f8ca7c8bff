import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  backupDatabase,
  BACKUP_SCHEMAS,
  checkBackup,
  checkInvariants,
  createDataSource,
  migrate,
  restoreDatabase,
  withClient,
  type StoredData,
} from '@gatehouse/persistence';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../smoke/launched-platform.js';

const SERVICES = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];
/** How many migrations of each service the older version had: tables exist that later ones change. */
const OLDER = [10, 7, 8];

/** A service as it was when it had only its first migrations. */
function olderVersion(stored: StoredData, count: number): StoredData {
  const cut: StoredData['database'] = (url, name) => {
    const config = stored.database(url, name);
    return { ...config, migrations: Object.values(config.migrations).slice(0, count) as never };
  };
  return { ...stored, database: cut, invariants: [] };
}

describe('backups of the real schemas', { timeout: 120_000 }, () => {
  let folder: string;
  let present: StoredData[];
  let older: StoredData[];
  let owned: TestDatabase;
  let role: string;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-versions-'));
    present = await Promise.all(
      SERVICES.map(async (name) => {
        const file = join(ROOT, 'apps', name, 'dist/stored-data.js');
        return ((await import(pathToFileURL(file).href)) as { STORED_DATA: StoredData }).STORED_DATA;
      }),
    );
    older = present.map((stored, index) => olderVersion(stored, OLDER[index] ?? 0));
    owned = await createTestDatabase();
    role = `owner_${owned.name}`;
    await withClient(owned.url, (client) =>
      client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'owner'; ALTER DATABASE ${owned.name} OWNER TO ${role}`),
    );
    url = Object.assign(new URL(owned.url), { username: role, password: 'owner' }).href;
    for (const stored of older) await migrate(createDataSource(stored.database(url, 'spec')));
    await withClient(url, (client) =>
      client.query(
        `INSERT INTO resource_sharing.site_accounts (username, nickname, password_hash) VALUES ('ann', 'Ann', 'x'), ('bob', 'Bob', 'x')`,
      ),
    );
  });
  afterAll(async () => {
    await using other = await createTestDatabase();
    await owned.drop();
    await withClient(other.url, (client) => client.query(`DROP ROLE ${role}`));
    rmSync(folder, { recursive: true });
  });

  it('know every schema of every service', () => {
    expect(present.flatMap(({ schemas }) => schemas).toSorted((a, b) => a.localeCompare(b))).toEqual(
      BACKUP_SCHEMAS.toSorted((a, b) => a.localeCompare(b)),
    );
  });

  it('of an older version become this one, for a role that only owns the database', async () => {
    const [first, second] = [join(folder, 'older.gz'), join(folder, 'newer.gz')];
    await backupDatabase(url, first);
    const backup = await checkBackup(first, { stored: present });
    expect(backup.migrations.length).toBeGreaterThan(20);
    // Over what they were made from.
    await expect(restoreDatabase(url, backup)).rejects.toThrow('not empty (proxy-gateway');
    await restoreDatabase(url, backup, { force: true });
    const checks = await checkInvariants(url, present);
    expect(checks.filter(({ broken }) => broken > 0)).toEqual([]);
    expect(checks.length).toBeGreaterThan(present.length);
    const { rows } = await withClient(url, (client) =>
      client.query(
        'SELECT username, balance FROM resource_sharing.site_accounts JOIN resource_sharing.ledger_accounts ON user_id = id ORDER BY 1',
      ),
    );
    expect(rows).toEqual([
      { username: 'ann', balance: 0 },
      { username: 'bob', balance: 0 },
    ]);
    // What this version saves, the older one refuses by name.
    await backupDatabase(url, second);
    await expect(checkBackup(second, { stored: older })).rejects.toThrow(
      /made by a newer Gatehouse \(it has the migrations .*CreateTrafficLogSections1763668800350/,
    );
    await restoreDatabase(url, await checkBackup(second, { stored: present }), { force: true });
    expect((await checkInvariants(url, present)).filter(({ broken }) => broken > 0)).toEqual([]);
  });
});
