import { createDataSource, migrate, pendingMigrations, refuseLostSecretKey } from '@gatehouse/persistence';
import type { DataSourceConfig } from '@gatehouse/persistence';
import { migrateJobs } from '@gatehouse/jobs';
import { explained, prepareSchema, type JsonLogger } from '@gatehouse/platform';
import { ENTITIES } from './entities.js';
import { MIGRATIONS } from './migrations/index.js';
import { SERVICE_NAME } from './service-version.js';
import type { ProxyGatewaySettings } from './settings.js';

export const SCHEMA = 'proxy_gateway';

export function databaseConfig(
  { databaseUrl }: Readonly<Pick<ProxyGatewaySettings, 'databaseUrl'>>,
  applicationName: string,
): DataSourceConfig {
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
export async function migrateDatabase(settings: Readonly<ProxyGatewaySettings>): Promise<string[]> {
  return await explained(async () => {
    const applied = await migrate(createDataSource(databaseConfig(settings, `${SERVICE_NAME} migrate`)));
    if (settings.redisUrl === undefined) await migrateJobs(settings.databaseUrl);
    return applied;
  });
}

/** Migrates where AUTO_MIGRATE says so, else raises StartError when migrations are missing. */
export async function prepareDatabase(settings: Readonly<ProxyGatewaySettings>, logger: JsonLogger): Promise<void> {
  const { home, secretKey: envValue, databaseUrl } = settings;
  await explained(() => refuseLostSecretKey({ home, envValue }, databaseUrl, `${SCHEMA}.administrators`));
  await prepareSchema({
    service: SERVICE_NAME,
    autoMigrate: settings.autoMigrate,
    pending: () => pendingMigrations(createDataSource(databaseConfig(settings, `${SERVICE_NAME} check`))),
    migrate: () => migrateDatabase(settings),
    logger,
  });
}
