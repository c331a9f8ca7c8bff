import { JOBS_SCHEMA, migrateJobs } from '@gatehouse/jobs';
import {
  createDataSource,
  migrate,
  pendingMigrations,
  refuseLostSecretKey,
  type DataSourceConfig,
  type SchemaCheckOptions,
} from '@gatehouse/persistence';
import { explained, prepareSchema, type JsonLogger, type ServiceSettings } from '@gatehouse/platform';

/** Where the tables of a service are and how they are made. */
export interface ServiceDatabase extends Pick<
  DataSourceConfig,
  'schema' | 'searchPath' | 'entities' | 'migrations' | 'layer'
> {
  /** Folder of the SQL files; it ends with a slash. */
  readonly sqlFolder: URL;
  /** Version of the service. */
  readonly release: string;
  /** Every first start writes to this table. While it has rows, a missing secret key is an error: a new key could read nothing. */
  readonly usedTable: string;
}

export function databaseConfig(database: ServiceDatabase, url: string, applicationName: string): DataSourceConfig {
  const { usedTable: _, ...config } = database;
  // The queues use the connections of the service.
  return { ...config, sharedSchemas: [JOBS_SCHEMA], url, applicationName };
}

/** Migrations are SQL: without entities, whose metadata takes longer to build than everything else of a start that migrates nothing. */
function migrationConfig(database: ServiceDatabase, url: string, applicationName: string): DataSourceConfig {
  return { ...databaseConfig(database, url, applicationName), entities: [] };
}

/** Without a Redis, jobs are in tables of the database. */
export interface StoreAddresses {
  readonly databaseUrl: string;
  readonly redisUrl?: string | undefined;
}

/** What its database needs to know of a service. */
export interface ServiceWithDatabase {
  readonly name: string;
  readonly database: ServiceDatabase;
}

/**
 * Brings the database to this version, the tables of jobs included where there is no Redis; resolves to the names of what
 * was run. `onNewer`: as of `migrate` in `libs/persistence`.
 * @throws StartError naming DATABASE_URL when the database cannot be reached, NewerSchemaError when it is too new.
 */
export async function migrateDatabase(
  { name, database }: ServiceWithDatabase,
  { databaseUrl, redisUrl }: StoreAddresses,
  check: SchemaCheckOptions = {},
): Promise<string[]> {
  return await explained(async () => {
    const applied = await migrate(createDataSource(migrationConfig(database, databaseUrl, `${name} migrate`)), check);
    if (redisUrl === undefined) await migrateJobs(databaseUrl);
    return applied;
  });
}

/**
 * Migrates where AUTO_MIGRATE says so. @throws StartError when migrations are missing, SecretKeyError when the key is,
 * NewerSchemaError when a newer version has migrated the database and this one cannot work with it.
 */
export async function prepareDatabase(
  service: ServiceWithDatabase,
  settings: Readonly<ServiceSettings>,
  logger: JsonLogger,
): Promise<void> {
  const { name, database } = service;
  const { databaseUrl, home, secretKey: envValue } = settings;
  await explained(() => refuseLostSecretKey({ home, envValue }, databaseUrl, database.usedTable));
  const check: SchemaCheckOptions = {
    onNewer: ({ release, migrations }) =>
      logger.warn(
        'a newer version has migrated the database; this one can work with it',
        { release, migrations },
        'Service',
      ),
  };
  await prepareSchema({
    service: name,
    autoMigrate: settings.autoMigrate,
    pending: () => pendingMigrations(createDataSource(migrationConfig(database, databaseUrl, `${name} check`)), check),
    migrate: () => migrateDatabase(service, settings, check),
    logger,
  });
}
