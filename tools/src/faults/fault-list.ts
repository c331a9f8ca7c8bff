import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@gatehouse/persistence';
import { findProcess, withDescendants, type Role } from './processes.js';
import type { Stage } from './stage.js';

const STOPPED_MS = 20_000;
const AWAY_MS = 20_000;
const BLOCK = Buffer.alloc(1024 * 1024);

export interface Fault {
  name: string;
  /** Does the harm and, where it does not end by itself, undoes it. */
  strike(stage: Stage): Promise<void>;
  /** Why it cannot be tried here; absent: it can. */
  leftOut?: string | undefined;
}

const ROLES: readonly Role[] = [
  'kernel',
  'proxy-gateway',
  'resource-sharing',
  'edge',
  'keeper of the edge',
  'tunnel-gateway',
  'worker',
  'PostgreSQL',
];

const find = (stage: Stage, role: Role): number => findProcess(role, stage.state, stage.home, stage.worker);

const kill = (role: Role): Fault => ({
  name: `kill -9 of ${role}`,
  strike: (stage) => {
    process.kill(find(stage, role), 'SIGKILL');
    return Promise.resolve();
  },
});

/** Of PostgreSQL all its processes: each connection has one of its own. */
const stop = (role: Role): Fault => ({
  name: `SIGSTOP of ${role} for ${STOPPED_MS / 1_000} s`,
  strike: async (stage) => {
    const pid = find(stage, role);
    const pids = role === 'PostgreSQL' ? withDescendants(pid) : [pid];
    signalAll(pids, 'SIGSTOP');
    try {
      await delay(STOPPED_MS);
    } finally {
      signalAll(pids, 'SIGCONT');
    }
  },
});

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // it was ended while it stood still
    }
  }
}

function redisFaults(hasRedis: boolean): Fault[] {
  const leftOut = hasRedis ? undefined : 'no redis-server here (npm run peers)';
  const of = (name: string, strike: Fault['strike']): Fault => ({ name, strike, leftOut });
  return [
    of(`Redis away for ${AWAY_MS / 1_000} s, and back without its data`, async ({ redis }) => {
      await redis?.stop();
      await delay(AWAY_MS);
      await redis?.start();
    }),
    of('Redis emptied (FLUSHALL)', async ({ redis }) => {
      await redis?.command('FLUSHALL');
    }),
  ];
}

/** Fills the file system of the home, which has to be a small one of its own. */
const fullDisk = (leftOut: string | undefined): Fault => ({
  name: `disk full for ${AWAY_MS / 1_000} s`,
  leftOut,
  strike: async ({ home }) => {
    const file = join(home, 'filler');
    const descriptor = openSync(file, 'w');
    try {
      for (;;) writeSync(descriptor, BLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(descriptor);
    }
    await delay(AWAY_MS);
    rmSync(file);
  },
});

const allConnections: Fault = {
  name: `every connection of PostgreSQL taken for ${AWAY_MS / 1_000} s`,
  strike: async ({ databaseUrl }) => {
    const end = performance.now() + AWAY_MS;
    const hold = (): Promise<unknown> => delay(Math.max(0, end - performance.now()));
    const held: Promise<unknown>[] = [];
    while (performance.now() < end) {
      // Resolves when the connection stands; what the services give back later is taken at the next attempt.
      await new Promise<void>((resolve) => {
        const client = withClient(databaseUrl, () => (resolve(), hold())).catch(() => delay(200).then(resolve));
        held.push(client);
      });
    }
    await Promise.all(held);
  },
};

const out = (name: string, leftOut: string): Fault => ({ name, leftOut, strike: () => Promise.resolve() });

/** Every fault in the order in which it is tried; those that cannot be tried here say why. */
export function faults({ hasRedis, hasOwnDisk }: { hasRedis: boolean; hasOwnDisk: boolean }): Fault[] {
  return [
    ...ROLES.map(kill),
    ...ROLES.map(stop),
    ...redisFaults(hasRedis),
    fullDisk(hasOwnDisk ? undefined : 'needs the right to mount a small disk'),
    allConnections,
    out('clock an hour ahead, and an hour back', 'needs a clock of its own for each process (libfaketime)'),
    out('memory limit', 'needs a control group of its own; what the kernel then does is a kill -9'),
  ];
}

/** A small disk for a home; undefined where this user may not mount one. */
export function mountDisk(folder: string): (() => void) | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600m,mode=711', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', ['-l', folder]);
}
