import { setTimeout as delay } from 'node:timers/promises';

/** All in milliseconds. */
export interface DrainOptions {
  /** Period over which agents reconnect. */
  spreadMs: number;
  /** Time that connections of visitors have to end. */
  deadlineMs: number;
  /** How long the port for agents stays open after `yieldVisitors`, for visitors that were accepted before. Absent: 0. */
  settleMs?: number;
  /** How long to wait for agents to move; absent: not at all. */
  moveMs?: number;
  /** Called when all ports are released. */
  onReleased?: (this: void) => void;
}

/** Visitors on their way to a target. */
export interface Underway {
  /** Connections that have not asked for anything yet. */
  fresh(this: void): number;
  /** Visitors that wait for a data channel. */
  waiting(this: void): number;
}

/** Share of the period per agent: a few agents move almost at once, many use the whole period. */
const SPREAD_OF_AN_AGENT_MS = 2;
/** A connection that has sent no request within this time is not waited for. */
const FRESH_MS = 2_000;
const MAX_SETTLE_MS = 5_000;
const LOOK_MS = 10;

/** The period over which so many agents move. */
export function spreadOf(agents: number, atMostMs: number): number {
  return Math.min(atMostMs, agents * SPREAD_OF_AN_AGENT_MS);
}

/** Resolves after `atLeastMs`, once visitors that were accepted before no longer need the port for agents. */
export async function settled({ fresh, waiting }: Underway, atLeastMs: number): Promise<void> {
  await delay(atLeastMs);
  const since = performance.now();
  const isYoung = (): boolean => fresh() > 0 && performance.now() - since < FRESH_MS;
  const isWaiting = (): boolean => waiting() > 0 && performance.now() - since < MAX_SETTLE_MS;
  while (isYoung() || isWaiting()) await delay(LOOK_MS);
}
