import type { QueueName } from '@gatehouse/contracts';
import { configOf, PgListener, pgPool } from '@gatehouse/persistence';
import { HealthRegistry, MetricsRegistry } from '@gatehouse/platform';
import {
  Global,
  Inject,
  Injectable,
  Logger,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { HandlerRegistry, type RegisteredHandler } from './handler-registry.js';
import { decodeFailure, encodeFailure } from './job-errors.js';
import type { JobsConfig } from './job-types.js';
import { countJobs, showQueues } from './job-metrics.js';
import { JobWaiter } from './job-waiter.js';
import { JobWorkers } from './job-workers.js';
import { Jobs } from './jobs.service.js';
import { JobOutbox } from './outbox.js';
import { createPostgresStore, JOBS_SCHEMA } from './postgres-store.js';
import { QueueRegistry } from './queue-registry.js';
import type { QueueStore } from './queue-store.js';
import { createRedisStore } from './redis-store.js';
import { Schedules } from './schedules.js';
import { StoredSchedules } from './stored-schedules.js';
import { registerWorkerHealth } from './worker-health.js';

export interface JobsModuleQueues {
  /** Name of the service: services share one store, but queues of the same name in two services are separate. */
  namespace: string;
  /** The service's queues; each needs one handler among its providers. */
  queues: readonly QueueName[];
}

export interface JobsModuleSource extends JobsModuleQueues {
  imports?: DynamicModule['imports'];
  inject?: FactoryProvider['inject'];
  useFactory: (...dependencies: never[]) => JobsConfig | Promise<JobsConfig>;
}

const CONFIG = Symbol('jobs configuration');
const DEFAULT_DRAIN_MS = 3_000;

/** Checks the wiring, starts the workers when the application is up, and drains them first when it goes down. */
@Injectable()
class WorkersLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private handlers: RegisteredHandler[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: JobsConfig,
    private readonly registry: QueueRegistry,
    private readonly handlerRegistry: HandlerRegistry,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    this.handlers = this.handlerRegistry.resolve(this.registry.names);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.workers !== 'separate') await this.workers.start(this.handlers);
  }

  async onModuleDestroy(): Promise<void> {
    await this.workers.drain(this.config.drainMs ?? DEFAULT_DRAIN_MS);
  }
}

/** Relays the outbox while the application is up, and closes the connections after the workers are done with them. */
@Injectable()
class QueuesLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly registry: QueueRegistry,
    private readonly waiter: JobWaiter,
    private readonly outbox: JobOutbox,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.outbox.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.waiter.close();
    await this.outbox.close();
    await this.registry.close();
  }
}

/** Provides `Jobs` and `Schedules` everywhere, and runs the handlers. */
@Global()
@Module({})
export class JobsModule {
  static forRoot({ namespace, queues, ...config }: JobsConfig & JobsModuleQueues): DynamicModule {
    return JobsModule.forRootAsync({ namespace, queues, useFactory: () => config });
  }

  static forRootAsync(source: JobsModuleSource): DynamicModule {
    return {
      module: JobsModule,
      imports: [DiscoveryModule, ...(source.imports ?? [])],
      providers: [
        { provide: CONFIG, inject: source.inject ?? [], useFactory: source.useFactory },
        ...machinery(source),
        HandlerRegistry,
        Jobs,
        SCHEDULES,
        WORKER_HEALTH,
        QUEUE_METRICS,
        WorkersLifecycle,
        QueuesLifecycle,
      ],
      exports: [Jobs, Schedules],
    };
  }
}

/** A service's own modules add its checks; a worker has only these. */
const WORKER_HEALTH: FactoryProvider<boolean> = {
  provide: Symbol('health of a worker'),
  inject: [
    CONFIG,
    QueueRegistry,
    JobWorkers,
    { token: HealthRegistry, optional: true },
    { token: DataSource, optional: true },
  ],
  useFactory: (
    config: JobsConfig,
    registry: QueueRegistry,
    workers: JobWorkers,
    health?: HealthRegistry,
    dataSource?: DataSource,
  ) => {
    if (config.workers !== 'only' || health === undefined) return false;
    registerWorkerHealth(health, { registry, workers, dataSource });
    return true;
  },
};

/** Workers of their own show none: every one of them would show the same queues. */
const QUEUE_METRICS: FactoryProvider<boolean> = {
  provide: Symbol('metrics of the queues'),
  inject: [CONFIG, Jobs, QueueRegistry, { token: MetricsRegistry, optional: true }],
  useFactory: (config: JobsConfig, jobs: Jobs, registry: QueueRegistry, metrics?: MetricsRegistry) => {
    if (config.workers === 'only' || metrics === undefined) return false;
    showQueues(metrics, jobs, registry);
    return true;
  },
};

const SCHEDULES: FactoryProvider<Schedules> = {
  provide: Schedules,
  inject: [
    CONFIG,
    Jobs,
    QueueRegistry,
    { token: HealthRegistry, optional: true },
    { token: MetricsRegistry, optional: true },
  ],
  useFactory: (
    { scheduleLookMs }: JobsConfig,
    jobs: Jobs,
    registry: QueueRegistry,
    health?: HealthRegistry,
    metrics?: MetricsRegistry,
  ) => new Schedules(new StoredSchedules(jobs, registry), { lookEveryMs: scheduleLookMs, health, metrics }),
};

function machinery({ namespace, queues }: JobsModuleQueues): Provider[] {
  const logger = new Logger('Jobs');
  return [
    {
      provide: QueueRegistry,
      inject: [CONFIG, { token: PgListener, optional: true }, { token: DataSource, optional: true }],
      useFactory: async (config: JobsConfig, listener?: PgListener, dataSource?: DataSource) => {
        const store = createStore(config, { namespace, listener, dataSource }, logger);
        await store.prepare().catch(async (error: unknown) => {
          await store.close();
          throw error;
        });
        return new QueueRegistry(store, queues, namespace, (queue, error) =>
          logger.warn(`The queue ${queue} met an error: ${error.message}`),
        );
      },
    },
    { provide: JobWaiter, inject: [QueueRegistry], useFactory: (registry: QueueRegistry) => new JobWaiter(registry) },
    {
      provide: JobWorkers,
      inject: [QueueRegistry, { token: MetricsRegistry, optional: true }],
      useFactory: (registry: QueueRegistry, metrics?: MetricsRegistry) =>
        new JobWorkers(registry, {
          jobEnded: metrics === undefined ? () => undefined : countJobs(metrics),
          jobFailed: (queue, jobId, error) => logFailure(logger, { queue, jobId }, error),
          workerError: (queue, error) => logger.warn(`The worker of ${queue} met an error: ${error.message}`),
        }),
    },
    {
      provide: JobOutbox,
      inject: [QueueRegistry, { token: DataSource, optional: true }],
      useFactory: (registry: QueueRegistry, dataSource?: DataSource) =>
        new JobOutbox(registry, dataSource, (error) =>
          logger.warn(`Jobs of committed transactions wait in the outbox: ${error.message}`),
        ),
    },
  ];
}

/** A coded failure is expected; an unexpected one is logged with its stack. */
function logFailure(logger: Logger, job: { queue: QueueName; jobId: string }, error: unknown): void {
  const failure = decodeFailure(encodeFailure(error));
  if (failure.code === undefined && error instanceof Error) logger.error('A job failed', error.stack, job);
  else logger.warn('A job failed', { ...job, code: failure.code, reason: failure.message });
}

interface StoreParts {
  namespace: string;
  listener: PgListener | undefined;
  dataSource: DataSource | undefined;
}

/** Of a data source whose connections find the tables of the queues. */
function sharedPool(dataSource: DataSource | undefined): Pool | undefined {
  if (dataSource === undefined || configOf(dataSource)?.sharedSchemas?.includes(JOBS_SCHEMA) !== true) return undefined;
  return pgPool(dataSource);
}

function createStore(config: JobsConfig, parts: StoreParts, logger: Logger): QueueStore {
  const { namespace, listener } = parts;
  const applicationName = `${namespace} jobs`;
  const onError = (error: Error): void => logger.warn(`A connection of the job queues broke: ${error.message}`);
  if (config.redisUrl) {
    return createRedisStore({ url: config.redisUrl, options: config.redisOptions ?? {}, applicationName, onError });
  }
  const autoMigrate = config.autoMigrate ?? true;
  const pool = sharedPool(parts.dataSource);
  return createPostgresStore({
    url: config.databaseUrl,
    pool,
    listener,
    applicationName,
    autoMigrate,
    onError,
  });
}
