import { setTimeout as delay } from 'node:timers/promises';

/** All in milliseconds. */
export interface DrainOptions {
  /** Within which agents connect again. */
  spreadMs: number;
  /** For connections of visitors. */
  deadlineMs: number;
  /** How long the port for agents stays for visitors who were accepted just now, after `yieldVisitors`. Absent: 0. */
  settleMs?: number;
  /** How long agents may take to move; absent: they are not waited for. */
  moveMs?: number;
  /** All ports are given up. */
  onReleased?: (this: void) => void;
}

/** Visitors on their way to a target. */
export interface Underway {
  /** Connections that have not asked for anything yet. */
  fresh(this: void): number;
  /** Visitors that wait for a data channel. */
  waiting(this: void): number;
}

/** A few agents move at once; a crowd takes the whole time. */
const SPREAD_OF_AN_AGENT_MS = 2;
/** Who connected and has not asked for anything after this time had time for it. */
const FRESH_MS = 2_000;
const MAX_SETTLE_MS = 5_000;
const LOOK_MS = 10;

/** Within which so many agents are to move. */
export function spreadOf(agents: number, atMostMs: number): number {
  return Math.min(atMostMs, agents * SPREAD_OF_AN_AGENT_MS);
}

/** Resolves after `atLeastMs`, when visitors who were accepted before then have what they need of the port for agents. */
export async function settled({ fresh, waiting }: Underway, atLeastMs: number): Promise<void> {
  await delay(atLeastMs);
  const since = performance.now();
  const isYoung = (): boolean => fresh() > 0 && performance.now() - since < FRESH_MS;
  const isWaiting = (): boolean => waiting() > 0 && performance.now() - since < MAX_SETTLE_MS;
  while (isYoung() || isWaiting()) await delay(LOOK_MS);
}
