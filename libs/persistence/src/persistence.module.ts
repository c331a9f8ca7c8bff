import {
  Global,
  Injectable,
  Logger,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createDataSource, type DataSourceConfig } from './data-source.js';
import { PgListener } from './pg-listener.js';
import { UnitOfWork } from './unit-of-work.js';

/** Source of the configuration if it depends on other providers. */
export interface PersistenceModuleSource {
  imports?: DynamicModule['imports'];
  inject?: FactoryProvider['inject'];
  useFactory: (...dependencies: never[]) => DataSourceConfig | Promise<DataSourceConfig>;
}

const CONFIG = Symbol('persistence configuration');

/** Closes in the last stage of the shutdown, when requests and jobs are done with the database. */
@Injectable()
class PersistenceShutdown implements OnApplicationShutdown {
  constructor(
    private readonly dataSource: DataSource,
    private readonly listener: PgListener,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.listener.close();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}

/** Provides `DataSource` (initialized), `UnitOfWork` and `PgListener` everywhere. */
@Global()
@Module({})
export class PersistenceModule {
  static forRoot(config: DataSourceConfig): DynamicModule {
    return PersistenceModule.forRootAsync({ useFactory: () => config });
  }

  static forRootAsync(source: PersistenceModuleSource): DynamicModule {
    const logger = new Logger(PersistenceModule.name);
    return {
      module: PersistenceModule,
      imports: source.imports ?? [],
      providers: [
        { provide: CONFIG, inject: source.inject ?? [], useFactory: source.useFactory },
        {
          provide: DataSource,
          inject: [CONFIG],
          useFactory: (config: DataSourceConfig) =>
            createDataSource({
              onPoolError: (error) => logger.warn(`An idle database connection broke: ${error.message}`),
              ...config,
            }).initialize(),
        },
        {
          provide: PgListener,
          inject: [CONFIG],
          useFactory: ({ url, applicationName }: DataSourceConfig) =>
            new PgListener({
              url,
              applicationName: `${applicationName} listener`,
              onError: (error) => logger.warn(`The notification listener met an error: ${error.message}`),
            }),
        },
        UnitOfWork,
        PersistenceShutdown,
      ],
      exports: [DataSource, PgListener, UnitOfWork],
    };
  }
}
