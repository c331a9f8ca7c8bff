import { createDataSource, migrate, pendingMigrations } from '@gatehouse/persistence';
import { createTestDatabase, expectOldestReleases, expectSchemaInSync, expectSqlFilesInSync } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { CreateMails1763668801760 } from '../src/migrations/1763668801760-create-mails.js';
import { MIGRATIONS } from '../src/migrations/index.js';
import { SERVICE_VERSION } from '../src/service-version.js';

it('migrates an empty database to the schema of the entities, and back', async () => {
  await using database = await createTestDatabase();
  const dataSource = createDataSource(SERVICE.databaseConfig(database.url));
  expect(await pendingMigrations(dataSource)).toHaveLength(MIGRATIONS.length);
  expect(await migrate(dataSource)).toHaveLength(MIGRATIONS.length);
  expect(await migrate(dataSource)).toEqual([]);
  await dataSource.initialize();
  await expectSchemaInSync(dataSource);
  await expectSqlFilesInSync(
    dataSource,
    new URL('../data/sql/', import.meta.url),
    ['resource_sharing'],
    ['TRIGGER site_accounts_shut_test_shares site_accounts'],
  );
  for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
  const left = (await dataSource.query(
    `SELECT table_name FROM information_schema.tables
     WHERE table_schema = 'resource_sharing' AND table_name <> 'migration_releases' ORDER BY 1`,
  )) as { table_name: string }[];
  expect(left.map(({ table_name }) => table_name)).toEqual(['migrations', 'sql_files']);
  await dataSource.destroy();
});

it('says of each migration which older releases work with it', () => {
  expectOldestReleases(MIGRATIONS, { last: CreateMails1763668801760, release: SERVICE_VERSION });
});
