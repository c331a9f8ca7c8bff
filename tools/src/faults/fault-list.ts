import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@gatehouse/persistence/server';
import { findInPath } from '../peers/programs.js';
import { FAKETIME } from '../trials/clock.js';
import { findProcess, withDescendants, type Role } from './processes.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import type { Stage } from './stage.js';

const STOPPED_MS = 20_000;
const AWAY_MS = 20_000;
const GONE_MS = 60_000;
const BLOCK = Buffer.alloc(1024 * 1024);

export interface Fault {
  name: string;
  /** Whether the platform it strikes has a clock that can be set. */
  needsClock?: boolean;
  /** Does the harm, and undoes it where it would last. */
  strike(stage: Stage): Promise<void>;
  /** Why it cannot be tried here; absent: it can. */
  leftOut?: string | undefined;
}

const ROLES: readonly Role[] = [
  'kernel',
  'proxy-gateway',
  'resource-sharing',
  'edge',
  'supervisor of the edge',
  'tunnel-gateway',
  'worker',
  'PostgreSQL',
];

/** Those whose memory grows with what strangers do: they allocate at once. */
const LIMITED: readonly Role[] = ['kernel', 'edge'];

const find = (stage: Stage, role: Role): number => findProcess(role, stage.state, stage.home, stage.worker);

const kill = (role: Role): Fault => ({
  name: `kill -9 of ${role}`,
  strike: (stage) => {
    process.kill(find(stage, role), 'SIGKILL');
    return Promise.resolve();
  },
});

/** PostgreSQL is stopped with all its processes: each connection has one. */
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

/** It stops with everything written, and is started again. */
const stopOrderly: Fault = {
  name: 'PostgreSQL stopped cleanly',
  strike: async (stage) => {
    const pid = find(stage, 'PostgreSQL');
    process.kill(pid, 'SIGINT');
    if (!(await isGone(pid))) throw new Error(`PostgreSQL (${pid}) is still there`);
  },
};

/**
 * What it has is all it may have: when it asks for more, it ends. The process that takes its place has no such limit. One
 * that gets along for a minute has passed.
 */
const limitMemory = (role: Role): Fault => ({
  name: `memory limit of ${role}`,
  leftOut: findInPath('prlimit', { path: process.env['PATH'] ?? '', except: '' })
    ? undefined
    : 'needs prlimit (util-linux)',
  strike: async (stage) => {
    const pid = find(stage, role);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = Number(/^VmData:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
    const limit = (data: string): unknown => execFileSync('prlimit', [`--data=${data}:`, '--pid', String(pid)]);
    limit(String(bytes));
    if (!(await isGone(pid))) limit('unlimited');
  },
});

const isGone = (pid: number): Promise<boolean> =>
  eventuallyTrue(() => Promise.resolve(!existsSync(`/proc/${pid}`)), GONE_MS);

/** Sets the clock of every process of the platform, as when that of the machine is set. Users and their agent keep theirs. */
const setClock = (name: string, offset: number): Fault => ({
  name: `clock ${name} for ${AWAY_MS / 1_000} s`,
  needsClock: true,
  leftOut: existsSync(FAKETIME) ? undefined : 'needs libfaketime (Debian: faketime)',
  strike: async ({ setClock: set }) => {
    set(offset);
    try {
      await delay(AWAY_MS);
    } finally {
      set(0);
    }
  },
});

function redisFaults(hasRedis: boolean): Fault[] {
  const leftOut = hasRedis ? undefined : 'no redis-server here (npm run peers)';
  const of = (name: string, strike: Fault['strike']): Fault => ({ name, strike, leftOut });
  return [
    of(`Redis killed for ${AWAY_MS / 1_000} s, and back without its data`, async ({ redis }) => {
      await redis?.stop();
      await delay(AWAY_MS);
      await redis?.start();
    }),
    of(`Redis stopped cleanly for ${AWAY_MS / 1_000} s, and back with its data`, async ({ redis }) => {
      await redis?.park();
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

/** Every fault in the order in which it is tried; those that cannot be tried here say why. */
export function faults({ hasRedis, hasOwnDisk }: { hasRedis: boolean; hasOwnDisk: boolean }): Fault[] {
  return [
    ...ROLES.map(kill),
    ...ROLES.map(stop),
    stopOrderly,
    ...redisFaults(hasRedis),
    fullDisk(hasOwnDisk ? undefined : 'needs the right to mount a small disk'),
    allConnections,
    ...LIMITED.map(limitMemory),
    setClock('an hour ahead', 3_600),
    setClock('an hour back', -3_600),
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
