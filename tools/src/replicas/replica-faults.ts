import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backupDatabase, checkBackup } from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { loadStoredData } from '../database/stored-data.js';
import { connectionPeak, FREE_CONNECTIONS } from './connection-peak.js';
import { FAKETIME, untilMidnight } from '../trials/clock.js';
import { PostgresCarrier } from './postgres-carrier.js';
import type { RedisPair, ReplicaStage } from './replica-stage.js';

const AWAY_MS = 15_000;
const SECONDS = AWAY_MS / 1_000;

export interface ReplicaFault {
  name: string;
  /** Does the harm, and undoes it where it would last. Resolves with a remark for the table. */
  strike(stage: ReplicaStage): Promise<string | void>;
  /** Whether it takes a stage with a clock that can be set. */
  needsClock?: boolean;
  /** Why it cannot be tried here; absent: it can. */
  leftOut?: string | undefined;
}

const databaseFaults: readonly ReplicaFault[] = [
  {
    name: 'nothing (to compare with)',
    strike: async ({ databaseUrl }) => {
      const peak = await connectionPeak(databaseUrl, AWAY_MS);
      if (peak > FREE_CONNECTIONS)
        throw new PlainFailure(
          `${peak} connections to PostgreSQL: its default leaves ${FREE_CONNECTIONS} to services.`,
        );
      return `at most ${peak} connections to PostgreSQL at once`;
    },
  },
  {
    name: `no traffic to PostgreSQL for ${SECONDS} s, at one replica of each service`,
    strike: async ({ set }) => {
      const ways = set.databasesOf(0);
      for (const way of ways) way.freeze();
      await delay(AWAY_MS);
      for (const way of ways) way.thaw();
    },
  },
  {
    name: 'every connection to PostgreSQL dropped silently, at one replica of each service',
    strike: ({ set }) => {
      const count = set.databasesOf(0).reduce((sum, way) => sum + way.forgetAll(), 0);
      return Promise.resolve(`${count} connections`);
    },
  },
  {
    name: 'connections that LISTEN dropped silently, at both replicas',
    strike: ({ set }) => {
      const ways = [0, 1].flatMap((index) => set.databasesOf(index));
      const count = ways.reduce((sum, way) => sum + way.forgetListeners(), 0);
      return Promise.resolve(`${count} connections`);
    },
  },
  {
    name: `one commit in ten ends its connection, half of them before and half after, for ${SECONDS} s`,
    strike: async ({ set }) => {
      const ways = [0, 1].flatMap((index) => set.databasesOf(index));
      let [seen, cuts] = [0, 0];
      for (const way of ways) {
        way.decide = () => {
          seen += 1;
          if (seen % 10 !== 0) return undefined;
          cuts += 1;
          return cuts % 2 === 0 ? 'before' : 'after';
        };
      }
      await delay(AWAY_MS);
      for (const way of ways) way.decide = () => undefined;
      return `${cuts} connections ended`;
    },
  },
  {
    name: `a backup that takes ${SECONDS} s`,
    strike: async ({ databaseUrl, home }) => {
      const file = join(home, 'backup.gz');
      await using way = await PostgresCarrier.start(databaseUrl);
      const begun = Promise.withResolvers<void>();
      const backup = backupDatabase(way.url, file, { onProgress: () => begun.resolve() });
      // It has its snapshot and its locks while it stands still.
      await Promise.race([begun.promise, backup]);
      way.freeze();
      await delay(AWAY_MS);
      way.thaw();
      await backup;
      const checked = await checkBackup(file, { stored: await loadStoredData() });
      return `${checked.header.tables.length} tables in it`;
    },
  },
];

function redisFault(
  name: string,
  strike: (redis: RedisPair) => Promise<string | void>,
  hasRedis: boolean,
): ReplicaFault {
  return {
    name,
    leftOut: hasRedis ? undefined : 'no redis-server here (npm run peers)',
    strike: async ({ redis }) => (redis === undefined ? undefined : await strike(redis)),
  };
}

/** In this order: after the failover the second one serves. */
const redisFaults = (hasRedis: boolean): ReplicaFault[] => [
  redisFault(
    `Redis is killed, and back without its data after ${SECONDS} s`,
    async ({ first }) => {
      await first.stop();
      await delay(AWAY_MS);
      await first.start();
    },
    hasRedis,
  ),
  redisFault(
    `no traffic to Redis for ${SECONDS} s`,
    async ({ way }) => {
      way.freeze();
      await delay(AWAY_MS);
      way.thaw();
    },
    hasRedis,
  ),
  redisFault(
    'Redis fails over to its replica',
    async ({ way, first, second }) => {
      await first.stop();
      await second.command('REPLICAOF NO ONE');
      way.moveTo({ host: '127.0.0.1', port: second.port });
      return 'by redirecting its traffic';
    },
    hasRedis,
  ),
  redisFault(
    'Redis starts again, empty',
    async ({ second }) => {
      await second.stop();
      await second.start();
    },
    hasRedis,
  ),
];

/** The clock of the services and of PostgreSQL is put close to midnight, which then passes. */
const dayChange: ReplicaFault = {
  name: 'the day changes',
  needsClock: true,
  leftOut: existsSync(FAKETIME) ? undefined : 'needs libfaketime (Debian: faketime)',
  strike: async ({ clock }) => {
    if (clock === undefined) throw new Error('the stage has no clock of its own');
    const left = untilMidnight(clock.now());
    if (left > AWAY_MS / 2_000) clock.set(clock.offset + left - AWAY_MS / 2_000);
    await delay(AWAY_MS);
    return `to ${new Date(clock.now()).toISOString().slice(0, 10)}`;
  },
};

/** Every fault in the order in which it is tried; those that cannot be tried here say why. */
export const usualFaults = (hasRedis: boolean): ReplicaFault[] => [
  ...databaseFaults,
  ...redisFaults(hasRedis),
  dayChange,
];
