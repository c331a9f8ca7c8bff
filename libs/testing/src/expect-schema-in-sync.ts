import { expect } from 'vitest';
import type { DataSource } from 'typeorm';

/** Asserts that TypeORM's schema builder has nothing left to do on a migrated database: entities and migrations agree. */
export async function expectSchemaInSync(dataSource: DataSource): Promise<void> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  const statements = upQueries.map(({ query }) => query).join('\n');
  expect(statements, `these statements would make the database match the entities:\n${statements}\n`).toBe('');
}
