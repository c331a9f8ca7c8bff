import { createDataSource, migrate, pendingMigrations } from '@gatehouse/persistence';
import type { DataSourceConfig } from '@gatehouse/persistence';
import { migrateJobs } from '@gatehouse/jobs';
import { StartError } from '@gatehouse/platform';
import { ENTITIES } from './entities.js';
import { MIGRATIONS } from './migrations/index.js';
import type { ProxyGatewaySettings } from './settings.js';

const SCHEMA = 'proxy_gateway';

export function databaseConfig(
  { databaseUrl }: Readonly<ProxyGatewaySettings>,
  applicationName: string,
): DataSourceConfig {
  return { url: databaseUrl, schema: SCHEMA, entities: ENTITIES, migrations: MIGRATIONS, applicationName };
}

/** Brings the database to this version; returns the names of what was run. */
export async function migrateDatabase(settings: Readonly<ProxyGatewaySettings>): Promise<string[]> {
  const applied = await migrate(createDataSource(databaseConfig(settings, 'proxy-gateway migrate')));
  if (settings.redisUrl === undefined) await migrateJobs(settings.databaseUrl);
  return applied;
}

/** Migrates where AUTO_MIGRATE says so. @throws StartError when migrations are missing otherwise. */
export async function prepareDatabase(settings: Readonly<ProxyGatewaySettings>): Promise<void> {
  if (settings.autoMigrate) {
    await migrateDatabase(settings);
    return;
  }
  const pending = await pendingMigrations(createDataSource(databaseConfig(settings, 'proxy-gateway check')));
  if (pending.length === 0) return;
  throw new StartError(
    `The database lacks ${pending.length} migrations (${pending[0]}...): run apps/proxy-gateway/dist/migrate.js, or set AUTO_MIGRATE=true.`,
  );
}
