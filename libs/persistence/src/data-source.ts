import 'reflect-metadata';
import type pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { poolTypes } from './pool-types.js';
import { prepareSession } from './session-settings.js';

export const MIGRATIONS_TABLE = 'migrations';

export interface DataSourceConfig {
  /** Connection string of the database. */
  url: string;
  /** Schema of the service: its tables and its migrations table. */
  schema: string;
  /** Schemas that unqualified names are looked up in after `schema`. */
  searchPath?: readonly string[];
  entities: NonNullable<DataSourceOptions['entities']>;
  migrations: NonNullable<DataSourceOptions['migrations']>;
  /** Connections at most; idle ones are closed after ten seconds. */
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Told when an idle connection breaks; the pool replaces it by itself. */
  onPoolError?: (error: Error) => void;
}

/** Builds the data source of one service; nothing connects before `initialize()`. */
export function createDataSource(config: DataSourceConfig): DataSource {
  const searchPath = schemasOf(config).map(quoteIdentifier).join(',');
  return new DataSource({
    type: 'postgres',
    url: config.url,
    schema: config.schema,
    entities: config.entities,
    migrations: config.migrations,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: ['error'],
    logger: silentLogger,
    installExtensions: false,
    uuidExtension: 'pgcrypto',
    applicationName: config.applicationName,
    poolSize: config.poolSize ?? 10,
    poolErrorHandler: (error: Error) => config.onPoolError?.(error),
    extra: {
      idleTimeoutMillis: 10_000,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      types: poolTypes,
      onConnect: prepareSession({ search_path: searchPath, idle_in_transaction_session_timeout: 60_000 }),
    },
  });
}

/** TypeORM prints statements with their parameters, which may be secrets; errors reach the caller anyway. */
const silentLogger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

function schemasOf({ schema, searchPath = [] }: Pick<DataSourceConfig, 'schema' | 'searchPath'>): string[] {
  return [...new Set([schema, ...searchPath])];
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The schema a data source was created for. */
export function schemaOf(dataSource: DataSource): string {
  const { schema } = dataSource.options as { schema?: string };
  if (schema === undefined) throw new TypeError('The data source has no schema: create it with createDataSource().');
  return schema;
}

/** Connection string a data source was created with. */
export function urlOf(dataSource: DataSource): string {
  const { url } = dataSource.options as { url?: string };
  if (url === undefined) throw new TypeError('The data source has no url: create it with createDataSource().');
  return url;
}

/** The pool TypeORM itself uses, for named prepared statements. Valid while the data source is initialized. */
export function pgPool(dataSource: DataSource): pg.Pool {
  return (dataSource.driver as unknown as { master: pg.Pool }).master;
}
