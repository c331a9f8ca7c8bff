import { existsSync, mkdtempSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@gatehouse/persistence';
import type { ReplicaFault } from './replica-faults.js';

const LIBRARIES = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`);
const MISSING = 'needs libfaketime (the package faketime of Debian)';
const DAY_MS = 86_400_000;
/** Before midnight, by the clock of the processes: at the start, and when the fault begins. */
const [START_MS, STRIKE_MS] = [15 * 60_000, 10_000];
const AFTER_MS = 15_000;

/** A clock that every process of a stage has, and that can be put forward. */
export interface FakeClock {
  /** Environment of the processes; the clock says that it is a quarter of an hour before midnight UTC. */
  start(): NodeJS.ProcessEnv;
  /** Puts the clock shortly before midnight. */
  approachMidnight(): void;
}

/** Undefined where libfaketime is not installed. The clock that measures durations stays as it is. */
export function fakeClock(): FakeClock | undefined {
  const library = LIBRARIES.find((file) => existsSync(file));
  if (library === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-clock-'));
  chmodSync(folder, 0o755);
  const file = join(folder, 'offset');
  const set = (beforeMidnightMs: number): void => {
    const now = Date.now();
    const midnight = Math.ceil((now + START_MS) / DAY_MS) * DAY_MS;
    writeFileSync(file, `+${Math.round((midnight - beforeMidnightMs - now) / 1_000)}`, { mode: 0o644 });
  };
  return {
    start: () => {
      set(START_MS);
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
        RESOURCE_SHARING_TIME_ZONE: 'UTC',
      };
    },
    approachMidnight: () => set(STRIKE_MS),
  };
}

export function dayFaults(clock: FakeClock | undefined): ReplicaFault[] {
  return [
    {
      name: 'the day changes (the clocks of all processes and of PostgreSQL run through midnight UTC)',
      leftOut: clock === undefined ? MISSING : undefined,
      strike: async ({ databaseUrl }) => {
        const before = await today(databaseUrl);
        clock?.approachMidnight();
        await delay(STRIKE_MS + AFTER_MS);
        const after = await today(databaseUrl);
        if (before === after) throw new Error(`the day did not change: it is ${after}`);
        return `${before} to ${after}`;
      },
    },
  ];
}

async function today(databaseUrl: string): Promise<string> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ day: string }>("SELECT (now() AT TIME ZONE 'UTC')::date::text AS day");
    return rows[0]?.day ?? '';
  });
}
