import {
  createDataSource,
  migrate,
  pendingMigrations,
  refuseLostSecretKey,
  type DataSourceConfig,
} from '@gatehouse/persistence';
import { explained, prepareSchema, type JsonLogger } from '@gatehouse/platform';
import { MIGRATIONS } from './migrations/index.js';
import type { ResourceSharingSettings } from './settings.js';
import { SiteAccount } from './site/site-account.entity.js';

export const SERVICE_NAME = 'resource-sharing';
export const SCHEMA = 'resource_sharing';
const ENTITIES = [SiteAccount];

export function databaseConfig(databaseUrl: string, applicationName = SERVICE_NAME): DataSourceConfig {
  return {
    url: databaseUrl,
    schema: SCHEMA,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    sqlFolder: new URL('../data/sql/', import.meta.url),
    applicationName,
  };
}

/** Brings the database to this version; resolves to the names of what was run. */
export async function migrateDatabase(databaseUrl: string): Promise<string[]> {
  return explained(() => migrate(createDataSource(databaseConfig(databaseUrl, `${SERVICE_NAME} migrate`))));
}

/** Migrates where AUTO_MIGRATE says so, else raises StartError when migrations are missing. */
export async function prepareDatabase(
  { autoMigrate, databaseUrl, home, secretKey: envValue }: Readonly<ResourceSharingSettings>,
  logger: JsonLogger,
): Promise<void> {
  await explained(() => refuseLostSecretKey({ home, envValue }, databaseUrl, 'resource_sharing.site_accounts'));
  await prepareSchema({
    service: SERVICE_NAME,
    autoMigrate,
    pending: () => pendingMigrations(createDataSource(databaseConfig(databaseUrl, `${SERVICE_NAME} check`))),
    migrate: () => migrateDatabase(databaseUrl),
    logger,
  });
}
