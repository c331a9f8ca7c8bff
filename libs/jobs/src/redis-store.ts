import { createRedisBackend, type BackendFactory, type ConnectionOptions, type IQueueBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { JobsUnavailableError } from './job-errors.js';
import type { QueueStore } from './queue-store.js';
import { within } from './within.js';

const ANSWER_TIMEOUT_MS = 10_000;

export interface RedisStoreOptions {
  url: string;
  applicationName: string;
  onError: (error: Error) => void;
}

/** One connection shared by all queues; BullMQ duplicates it only where it must block (workers, event streams). */
export function createRedisStore(options: RedisStoreOptions): QueueStore {
  const redis = new Redis(options.url, {
    connectionName: options.applicationName.replaceAll(/\s+/g, '-'),
    // Workers wait for Redis to come back, however long it takes.
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });
  redis.on('error', options.onError);
  redis.setMaxListeners(0);
  const ping = async (): Promise<void> => {
    await within(redis.ping(), ANSWER_TIMEOUT_MS, () => new JobsUnavailableError('Redis (REDIS_URL) does not answer.'));
  };
  return {
    kind: 'redis',
    connection: redis,
    factory: createRedisBackend as unknown as BackendFactory<IQueueBackend, ConnectionOptions>,
    prepare: async () => {
      try {
        await ping();
      } catch (error) {
        redis.disconnect();
        throw error;
      }
    },
    ping,
    close: async () => {
      // After a disconnection quit() would wait for a connection that may never come.
      if (redis.status === 'ready') await redis.quit();
      else redis.disconnect();
    },
  };
}
