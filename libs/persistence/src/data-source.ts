import 'reflect-metadata';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import {
  KEEP_ALIVE,
  KEPT_CONNECTIONS,
  type Patience,
  patientPool,
  poolTypes,
  prepareSession,
  SERVICE_PATIENCE,
} from '@gatehouse/postgres';
import { LAYER_POOL_SIZE, layeredPool, type Layer } from './layered-pool.js';
import { tracedDriver } from './traced-driver.js';

export const MIGRATIONS_TABLE = 'migrations';

export const POOL_SIZE = 10;
/**
 * Longer than the wait for a lock, so that a request that waits here can get the connection of one that gave up on a
 * lock.
 */
const CONNECTION_TIMEOUT_MS = 8_000;

export interface DataSourceConfig {
  /** Connection string of the database. */
  url: string;
  /** Schema of the service: its tables and its migrations table. */
  schema: string;
  /** Schemas in which unqualified names are looked up after `schema`. */
  searchPath?: readonly string[];
  /** Schemas that services share: connections look there last. SQL files and the layer do not. */
  sharedSchemas?: readonly string[];
  entities: NonNullable<DataSourceOptions['entities']>;
  migrations: NonNullable<DataSourceOptions['migrations']>;
  /** Folder with the SQL files of the service, which `migrate` applies after the migrations; it ends with a slash. */
  sqlFolder?: URL;
  /** Tables before those of the service, for the work of `withLayer`. */
  layer?: Layer;
  /** Version of the program, such as 0.3.0. Without it, a database that a newer version has migrated is refused. */
  release?: string;
  /** Maximum number of connections. Default: 10. All but one are closed when they have been idle for four seconds. */
  poolSize?: number;
  /** Default: the limits of a service. */
  patience?: Patience;
  /** Milliseconds that a request waits for a connection. Default: 8,000. */
  connectionTimeoutMs?: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Called when an idle connection breaks; the pool replaces it. */
  onPoolError?: (error: Error) => void;
}

/** Builds the data source of one service; nothing connects before `initialize()`. */
export function createDataSource(config: DataSourceConfig): DataSource {
  const dataSource = new DataSource({
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
    driver: driverOf(config),
    poolSize: config.poolSize ?? POOL_SIZE,
    poolErrorHandler: (error: Error) => config.onPoolError?.(error),
    extra: {
      ...KEPT_CONNECTIONS,
      connectionTimeoutMillis: config.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS,
      ...KEEP_ALIVE,
      types: poolTypes,
      onConnect: sessionOf(config),
    },
  });
  configs.set(dataSource, config);
  return dataSource;
}

function driverOf(config: DataSourceConfig): typeof pg {
  const traced = tracedDriver(config.schema);
  const driver = { ...traced, Pool: patientPool(traced.Pool) };
  const { layer } = config;
  if (layer === undefined) return driver;
  const search_path = layerPathOf(config, layer);
  const onConnect = prepareSession({ search_path }, config.patience ?? SERVICE_PATIENCE);
  const options = { max: LAYER_POOL_SIZE, min: 0, application_name: `${config.applicationName} layer`, onConnect };
  return { ...driver, Pool: layeredPool(driver.Pool, layer, options as pg.PoolConfig) };
}

/** Setup of each new connection. */
function sessionOf(config: DataSourceConfig): (client: pg.ClientBase) => unknown {
  const schemas = [...schemasOf(config), ...(config.sharedSchemas ?? [])];
  return prepareSession({ search_path: schemas.map(quoteIdentifier).join(',') }, config.patience ?? SERVICE_PATIENCE);
}

/** The schemas of unqualified names, quoted and separated by commas. */
export function searchPathOf(config: DataSourceConfig): string {
  return schemasOf(config).map(quoteIdentifier).join(',');
}

/** The schemas of unqualified names for the work in the layer, quoted and separated by commas. */
export function layerPathOf(config: DataSourceConfig, { searchPath }: Pick<Layer, 'searchPath'>): string {
  return [...searchPath, ...schemasOf(config)].map(quoteIdentifier).join(',');
}

/** The options of `createDataSource`. */
export function configOf(dataSource: DataSource): DataSourceConfig | undefined {
  return configs.get(dataSource);
}

/** Sets other limits for a data source that is not initialized yet. */
export function usePatience(dataSource: DataSource, patience: Patience): void {
  const config = configs.get(dataSource);
  const { extra } = dataSource.options as { extra?: object };
  if (config !== undefined && extra !== undefined)
    Object.assign(extra, { onConnect: sessionOf({ ...config, patience }) });
}

const configs = new WeakMap<DataSource, DataSourceConfig>();

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
