import { createDataSource, migrate, pendingMigrations } from '@gatehouse/persistence';
import { createTestDatabase, expectOldestReleases, expectSchemaInSync, expectSqlFilesInSync } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { CreateKernels1763668800780 } from '../src/migrations/1763668800780-create-kernels.js';
import { MIGRATIONS } from '../src/migrations/index.js';
import { SERVICE_VERSION } from '../src/service-version.js';

it('migrates an empty database to the schema of the entities, and back', async () => {
  await using database = await createTestDatabase();
  const dataSource = createDataSource(SERVICE.databaseConfig(database.url, 'test'));
  expect(await migrate(dataSource)).toHaveLength(MIGRATIONS.length);
  expect(await pendingMigrations(dataSource)).toEqual([]);
  await dataSource.initialize();
  try {
    await expectSchemaInSync(dataSource);
    await expectSqlFilesInSync(dataSource, new URL('../data/sql/', import.meta.url), ['proxy_gateway']);
    for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
    const [left] = await dataSource.query(
      `SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = 'proxy_gateway' AND tablename NOT IN ('migrations', 'migration_releases', 'sql_files')`,
    );
    expect(left.count).toBe(0);
  } finally {
    await dataSource.destroy();
  }
});

it('says of each migration which older releases work with it', () => {
  expectOldestReleases(MIGRATIONS, { last: CreateKernels1763668800780, release: SERVICE_VERSION });
});
