import { migrateJobs } from '@gatehouse/jobs';
import {
  createDataSource,
  migrate,
  pendingMigrations,
  refuseLostSecretKey,
  type DataSourceConfig,
} from '@gatehouse/persistence';
import { explained, prepareSchema, type JsonLogger } from '@gatehouse/platform';
import { ENTITIES } from './entities.js';
import { MIGRATIONS } from './migrations/index.js';
import type { TunnelGatewaySettings } from './settings.js';

export const SERVICE_NAME = 'tunnel-gateway';
/** Holds the tables of the data model and nothing else, not even the list of migrations. */
export const MODEL_SCHEMA = 'tunnel_gateway';
/** Holds whatever else the service needs. */
export const OPERATIONS_SCHEMA = 'tunnel_gateway_ops';

export function databaseConfig(databaseUrl: string, applicationName = SERVICE_NAME): DataSourceConfig {
  return {
    url: databaseUrl,
    schema: OPERATIONS_SCHEMA,
    searchPath: [MODEL_SCHEMA],
    entities: ENTITIES,
    migrations: MIGRATIONS,
    sqlFolder: new URL('../data/sql/', import.meta.url),
    applicationName,
  };
}

/** Brings the database to this version; resolves to the names of what was run. */
export async function migrateDatabase(databaseUrl: string, redisUrl?: string): Promise<string[]> {
  return explained(async () => {
    const applied = await migrate(createDataSource(databaseConfig(databaseUrl, `${SERVICE_NAME} migrate`)));
    if (redisUrl === undefined) await migrateJobs(databaseUrl);
    return applied;
  });
}

/** Migrates where AUTO_MIGRATE says so, else raises StartError when migrations are missing. */
export async function prepareDatabase(
  { autoMigrate, databaseUrl, redisUrl, home, secretKey: envValue }: Readonly<TunnelGatewaySettings>,
  logger: JsonLogger,
): Promise<void> {
  await explained(() => refuseLostSecretKey({ home, envValue }, databaseUrl, `${MODEL_SCHEMA}.users`));
  await prepareSchema({
    service: SERVICE_NAME,
    autoMigrate,
    pending: () => pendingMigrations(createDataSource(databaseConfig(databaseUrl, `${SERVICE_NAME} check`))),
    migrate: () => migrateDatabase(databaseUrl, redisUrl),
    logger,
  });
}
