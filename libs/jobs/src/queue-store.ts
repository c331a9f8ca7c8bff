import type { BackendFactory, ConnectionOptions, IQueueBackend } from 'bullmq';

/** The store of the queues: PostgreSQL or Redis. Owns the connections that all queues of the process share. */
export interface QueueStore {
  readonly kind: 'postgres' | 'redis';
  /** Options for the constructors of all BullMQ classes in the process. */
  readonly connection: ConnectionOptions;
  readonly factory: BackendFactory<IQueueBackend, ConnectionOptions>;
  /** Checks that the store answers and has its schema. @throws JobsUnavailableError */
  prepare(): Promise<void>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
