import { JobsModule, type WorkersMode } from '@gatehouse/jobs';
import { PersistenceModule, type DataSourceConfig, type SchemaCheckOptions } from '@gatehouse/persistence';
import {
  redisOptions,
  runCommand,
  runService,
  runWorker,
  type HttpOptions,
  type JsonLogger,
  type ServiceDefinition,
  type ServiceSettings,
} from '@gatehouse/platform';
import type { DynamicModule, Type } from '@nestjs/common';
import { DatabaseHealthModule } from './database-health.module.js';
import { DatabaseMetricsModule } from './database-metrics.module.js';
import { EnvironmentModule } from './environment.module.js';
import { databaseConfig, migrateDatabase, prepareDatabase, type StoreAddresses } from './service-database.js';
import type { ServiceDescription } from './service-description.js';

type Imports = NonNullable<DynamicModule['imports']>;
type RootModule<S> = (settings: Readonly<S>) => Type | DynamicModule;

/** What only the process with the API needs. */
interface ApiOptions<S extends ServiceSettings> extends Pick<ServiceDefinition<S>, 'prepare' | 'configure'> {
  readonly module: RootModule<S>;
  readonly http: HttpOptions;
}

/** What every service is: one of these in its `service.ts`, and one call in each of main.ts, worker.ts and migrate.ts. */
export interface Service<S extends ServiceSettings> extends Pick<ServiceDescription<S>, 'name' | 'readSettings'> {
  readonly schema: string;
  /** `applicationName` is shown in pg_stat_activity. Default: the service's name. */
  readonly databaseConfig: (url: string, applicationName?: string) => DataSourceConfig;
  /** Brings the database to this version; resolves to the names of what was run. @throws StartError */
  readonly migrate: (stores: StoreAddresses, check?: SchemaCheckOptions) => Promise<string[]>;
  /** Migrates where AUTO_MIGRATE says so. @throws StartError, SecretKeyError */
  readonly prepare: (settings: Readonly<S>, logger: JsonLogger) => Promise<void>;
  /** The modules that the API and the worker share: settings, secrets, database, jobs, health. */
  readonly foundation: (settings: Readonly<S>, workers: WorkersMode) => Imports;
  /** main.ts: the API, with the workers inside unless WORKERS says `separate`. */
  readonly runApi: (options: ApiOptions<S>) => Promise<void>;
  /** worker.ts: the handlers of jobs alone. */
  readonly runWorker: (module: RootModule<S>) => Promise<void>;
  /** migrate.ts */
  readonly runMigrations: () => Promise<void>;
}

export function defineService<S extends ServiceSettings & { port: number }>(
  description: ServiceDescription<S>,
): Service<S> {
  const { name, database, readSettings } = description;
  const prefix = name.toUpperCase().replaceAll('-', '_');
  const prepare: Service<S>['prepare'] = (settings, logger) => prepareDatabase(description, settings, logger);
  const migrate: Service<S>['migrate'] = (stores, check) => migrateDatabase(description, stores, check);
  return {
    name,
    schema: database.schema,
    readSettings,
    databaseConfig: (url, applicationName = name) => databaseConfig(database, url, applicationName),
    migrate,
    prepare,
    foundation: (settings, workers) => foundation(description, settings, workers),
    runApi: (options) =>
      runService({
        prepare,
        ...options,
        name,
        settings: readSettings,
        port: ({ port }) => port,
        portVariable: `${prefix}_PORT`,
        metricsPortVariable: `${prefix}_METRICS_PORT`,
      }),
    runWorker: (module) => runWorker({ name: `${name} worker`, settings: readSettings, module, prepare }),
    runMigrations: () =>
      runCommand(name, async () => {
        const newer: string[] = [];
        const onNewer: SchemaCheckOptions['onNewer'] = ({ release, schema }) =>
          newer.push(`version ${release} has migrated the schema ${schema}; this version can work with it`);
        const applied = await migrate(readSettings(), { onNewer });
        if (applied.length === 0) return [...newer, 'nothing to migrate'];
        return applied.map((migration) => `applied ${migration}`);
      }),
  };
}

function foundation<S extends ServiceSettings>(
  { name, settings: type, database, queues }: ServiceDescription<S>,
  settings: Readonly<S>,
  workers: WorkersMode,
): Imports {
  const { databaseUrl, redisUrl, autoMigrate } = settings;
  const isWorker = workers === 'only';
  return [
    EnvironmentModule.forRoot(type, settings),
    PersistenceModule.forRoot(databaseConfig(database, databaseUrl, isWorker ? `${name} worker` : name)),
    JobsModule.forRoot({
      namespace: name,
      queues,
      databaseUrl,
      redisUrl,
      redisOptions: redisOptions(settings),
      autoMigrate,
      workers,
    }),
    DatabaseMetricsModule,
    // A worker's health includes its database already.
    ...(isWorker ? [] : [DatabaseHealthModule]),
  ];
}
