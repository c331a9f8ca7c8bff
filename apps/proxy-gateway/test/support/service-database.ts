import { createDataSource, migrate, UnitOfWork } from '@gatehouse/persistence';
import { createTestDatabase } from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { SERVICE } from '../../src/service.js';

/** A migrated database of its own, connected. */
export interface ServiceDatabase {
  url: string;
  dataSource: DataSource;
  unitOfWork: UnitOfWork;
  close(): Promise<void>;
}

export async function openServiceDatabase(): Promise<ServiceDatabase> {
  const database = await createTestDatabase({ template: { key: 'proxy_gateway', prepare } });
  const dataSource = await dataSourceFor(database.url).initialize();
  return {
    url: database.url,
    dataSource,
    unitOfWork: new UnitOfWork(dataSource),
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}

async function prepare(url: string): Promise<void> {
  await migrate(dataSourceFor(url));
}

function dataSourceFor(url: string): DataSource {
  return createDataSource(SERVICE.databaseConfig(url, 'proxy-gateway test'));
}
