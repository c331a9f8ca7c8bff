import type { RedisOptions } from '@gatehouse/platform';
import { createRedisBackend, type BackendFactory, type ConnectionOptions, type IQueueBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { JobsUnavailableError } from './job-errors.js';
import type { QueueStore } from './queue-store.js';
import { within } from './within.js';

const ANSWER_TIMEOUT_MS = 10_000;

export interface RedisStoreOptions {
  url: string;
  options: RedisOptions;
  applicationName: string;
  onError: (error: Error) => void;
}

/** One connection shared by all queues; BullMQ duplicates it only where it must block (workers, event streams). */
export function createRedisStore(options: RedisStoreOptions): QueueStore {
  const redis = new Redis(options.url, {
    ...options.options,
    connectionName: options.applicationName.replaceAll(/\s+/g, '-'),
    // Workers wait until Redis is back, however long that takes.
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });
  let problem: Error | undefined;
  redis.on('error', (error: Error) => {
    problem = error;
    options.onError(error);
  });
  redis.on('ready', () => (problem = undefined));
  redis.setMaxListeners(0);
  const ping = async (): Promise<void> => {
    try {
      await within(redis.ping(), ANSWER_TIMEOUT_MS, () => problem ?? new Error('it is silent'));
    } catch (cause) {
      throw unavailable(cause);
    }
  };
  return {
    kind: 'redis',
    connection: redis,
    factory: createRedisBackend as unknown as BackendFactory<IQueueBackend, ConnectionOptions>,
    prepare: async () => {
      try {
        await Promise.race([ping(), untilDistrusted(redis)]);
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

function unavailable(cause: unknown): JobsUnavailableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new JobsUnavailableError(
    `Redis (REDIS_URL) does not answer: ${reason}`,
    `Redis（REDIS_URL）没有响应：${reason}`,
    { cause },
  );
}

/** Rejects if the server's certificate is refused: another attempt would fail in the same way. */
function untilDistrusted(redis: Redis): Promise<never> {
  return new Promise((_, reject) => {
    redis.on('error', (error: Error & { code?: unknown }) => {
      if (/CERT|SELF_SIGNED/.test(String(error.code))) reject(unavailable(error));
    });
  });
}
