import { createDataSource, migrate, pendingMigrations } from '@gatehouse/persistence';
import { createTestDatabase, expectSchemaInSync } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { ENTITIES } from '../src/entities.js';
import { MIGRATIONS } from '../src/migrations/index.js';

it('migrates an empty database to what the entities say, and back', async () => {
  await using database = await createTestDatabase();
  const dataSource = createDataSource({
    url: database.url,
    schema: 'proxy_gateway',
    entities: ENTITIES,
    migrations: MIGRATIONS,
    applicationName: 'test',
  });
  expect(await migrate(dataSource)).toHaveLength(MIGRATIONS.length);
  expect(await pendingMigrations(dataSource)).toEqual([]);
  await dataSource.initialize();
  try {
    await expectSchemaInSync(dataSource);
    for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
    const [left] = await dataSource.query(
      `SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = 'proxy_gateway' AND tablename <> 'migrations'`,
    );
    expect(left.count).toBe(0);
  } finally {
    await dataSource.destroy();
  }
});
