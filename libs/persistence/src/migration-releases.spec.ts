import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backupDatabase } from './backup/backup-database.js';
import { checkBackup, restoreDatabase } from './backup/restore-database.js';
import { createDataSource, type DataSourceConfig } from './data-source.js';
import { compareReleases, type NewerSchema, type Release, type ReleasedMigration } from './migration-releases.js';
import { migrate, pendingMigrations } from './migrations.js';
import { withClient } from './pg-client.js';

class CreateParcels1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE parcels (id int PRIMARY KEY, grams int)');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
class AddSender1700000000002 implements ReleasedMigration {
  readonly oldestRelease: Release = '0.2.0';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE parcels ADD sender text');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
class DropGrams1700000000003 implements ReleasedMigration {
  readonly oldestRelease: Release = '0.3.0';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE parcels DROP grams');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
/** A branch of an older release got it. */
class AddColour1700000000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE parcels ADD colour text');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}

type Version = Pick<DataSourceConfig, 'release' | 'migrations'>;
const V2: Version = { release: '0.2.0', migrations: [CreateParcels1700000000001] };
const V3: Version = { release: '0.3.0', migrations: [CreateParcels1700000000001, AddSender1700000000002] };
const V4: Version = {
  release: '0.4.0',
  migrations: [CreateParcels1700000000001, AddSender1700000000002, DropGrams1700000000003],
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const config = (schema: string, version: Version, url = database.url): DataSourceConfig => ({
  url,
  schema,
  entities: [],
  applicationName: 'spec',
  ...version,
});
const upgrade = (schema: string, version: Version): Promise<string[]> =>
  migrate(createDataSource(config(schema, version)));

/** Both ways in which a service starts: it migrates, or looks whether that was done. */
async function start(schema: string, version: Version, url = database.url): Promise<NewerSchema[]> {
  const seen: NewerSchema[] = [];
  const onNewer = (newer: NewerSchema): void => void seen.push(newer);
  expect(await migrate(createDataSource(config(schema, version, url)), { onNewer })).toEqual([]);
  expect(await pendingMigrations(createDataSource(config(schema, version, url)), { onNewer })).toEqual([]);
  return seen;
}

it('lets the last release start on a database that only got more, and says that it is newer', async () => {
  await upgrade('grown', V2);
  await upgrade('grown', V3);
  const newer = {
    schema: 'grown',
    migrations: ['AddSender1700000000002'],
    release: '0.3.0',
    oldestRelease: '0.2.0',
  };
  expect(await start('grown', V2)).toEqual([newer, newer]);
  // And the newer one after it.
  expect(await start('grown', V3)).toEqual([]);
});

it('refuses a release that misses what was taken away, and names the one to start', async () => {
  await upgrade('shrunk', V4);
  for (const begin of [migrate, pendingMigrations]) {
    const refused = begin(createDataSource(config('shrunk', V2)));
    await expect(refused).rejects.toMatchObject({
      message:
        'the database has 2 migrations in the schema shrunk that this version does not know (AddSender1700000000002, ' +
        'DropGrams1700000000003): 0.4.0 changed the schema, and versions before 0.3.0 cannot work with it. Start 0.3.0 or ' +
        'later, or restore a backup that was made before the upgrade',
      text: { 'zh-CN': expect.stringContaining('请启动 0.3.0 或更高版本') },
    });
  }
  expect(await start('shrunk', V3)).toHaveLength(2);
});

it('refuses a release that has migrations of its own, or that does not say which it is', async () => {
  await upgrade('split', V3);
  const own = { ...V2, migrations: [CreateParcels1700000000001, AddColour1700000000009] };
  await expect(start('split', own)).rejects.toThrow('(AddSender1700000000002): it was used by a newer version');
  await expect(start('split', { migrations: V2.migrations })).rejects.toThrow('does not know (AddSender1700000000002)');
});

it('finds what a migration says even if the program that ran it died right after', async () => {
  await upgrade('died', V2);
  const Dies = class extends AddSender1700000000002 {
    override async up(): Promise<void> {
      await withClient(database.url, async (client) => {
        const { rows } = await client.query('SELECT * FROM died.migration_releases');
        expect(rows).toEqual([{ migration: 'Dies1700000000002', release: '0.3.0', oldest_release: '0.2.0' }]);
      });
      throw new Error('died');
    }
  };
  Object.defineProperty(Dies, 'name', { value: 'Dies1700000000002' });
  await expect(upgrade('died', { ...V3, migrations: [CreateParcels1700000000001, Dies] })).rejects.toThrow('died');
  expect(await start('died', V2)).toEqual([]);
});

it('believes a later release that corrects what a migration said, and never an earlier one', async () => {
  await upgrade('corrected', V3);
  const Corrected = class extends AddSender1700000000002 {
    override readonly oldestRelease: Release = '0.2.10';
  };
  Object.defineProperty(Corrected, 'name', { value: 'AddSender1700000000002' });
  await start('corrected', { release: '0.3.1', migrations: [CreateParcels1700000000001, Corrected] });
  await start('corrected', V3);
  await expect(start('corrected', { ...V2, release: '0.2.9' })).rejects.toThrow('Start 0.2.10 or later');
  expect(await start('corrected', { ...V2, release: '0.2.11-rc.1' })).toHaveLength(2);
});

it('is known after a restore, too: of a newer backup, and of an older one that was migrated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-releases-'));
  try {
    for (const [schema, before] of [
      ['kept', V3],
      ['raised', V2],
    ] as const) {
      await upgrade(schema, before);
      const file = join(folder, `${schema}.backup`);
      await backupDatabase(database.url, file, { schemas: [schema] });
      await using target = await createTestDatabase();
      const stored = (version: Version) => [
        { service: 'post', schemas: [schema], invariants: [], database: (url: string) => config(schema, version, url) },
      ];
      await restoreDatabase(target.url, await checkBackup(file, { stored: stored(V3) }));
      expect(await start(schema, V2, target.url)).toHaveLength(2);
      // A backup of the newer release is no way back: its rows have columns that the older one does not know.
      const older = checkBackup(file, { stored: stored(V2) });
      if (before === V3) await expect(older).rejects.toThrow('made by a newer Gatehouse');
      else await expect(older).resolves.toMatchObject({ migrations: [] });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  ['0.2.0', '0.2.0', 0],
  ['0.2.9', '0.2.10', -1],
  ['0.10.0', '0.9.9', 1],
  ['1.0.0', '0.99.0', 1],
  ['0.3.0-rc.1', '0.3.0', 0],
])('compares %s with %s: %s', (one, other, sign) => {
  expect(Math.sign(compareReleases(one, other))).toBe(sign);
});
