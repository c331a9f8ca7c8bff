import { createDataSource, migrate, pendingMigrations } from '@gatehouse/persistence';
import { createTestDatabase, expectSchemaInSync, expectSqlFilesInSync } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { MIGRATIONS } from '../src/migrations/index.js';

it('migrates an empty database to the schema of the entities, and back', async () => {
  await using database = await createTestDatabase();
  const dataSource = createDataSource(SERVICE.databaseConfig(database.url));
  expect(await pendingMigrations(dataSource)).toHaveLength(MIGRATIONS.length);
  expect(await migrate(dataSource)).toHaveLength(MIGRATIONS.length);
  expect(await migrate(dataSource)).toEqual([]);
  await dataSource.initialize();
  await expectSchemaInSync(dataSource);
  await expectSqlFilesInSync(dataSource, new URL('../data/sql/', import.meta.url), ['resource_sharing']);
  for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
  const left = (await dataSource.query(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'resource_sharing' ORDER BY 1",
  )) as { table_name: string }[];
  expect(left.map(({ table_name }) => table_name)).toEqual(['migrations', 'sql_files']);
  await dataSource.destroy();
});
