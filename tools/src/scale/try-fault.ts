import { setTimeout as delay } from 'node:timers/promises';
import { eventuallyTrue } from '../trials/eventually-true.js';
import type { Books } from './books.js';
import type { PlatformLoad } from './platform-load.js';
import { broken } from './replace.js';
import type { ScaleFault } from './scale-faults.js';
import type { Kind, Tally } from './user-streams.js';

const BEFORE_MS = 2_000;
const BACK_MS = 150_000;
/** haproxy gives visitors to what is back, too. */
const NOTICE_MS = 2_000;

/** What a fault cost. */
export interface FaultReport extends Record<Kind, Tally> {
  name: string;
  flows: number;
  /** Open connections that broke, by the copy that they went through. */
  cut: string[];
  /** How many of them belong to an edge without an agent of its own, for which others carry bytes. */
  cutCarried: number;
  /** Until what was harmed served again, and users noticed nothing. */
  backSeconds: number;
  /** What counters and ledger do not have as it was. */
  inexact: string[];
  /** What should not be so. */
  problems: string[];
}

/** Does harm while people use a fleet, and says what they noticed. */
export async function tryFault(load: PlatformLoad, books: Books, fault: ScaleFault): Promise<FaultReport> {
  const problems: string[] = [];
  books.begin();
  load.streams.resume();
  await delay(BEFORE_MS);
  const { flows, refused } = await load.openFlows();
  const before = [...refused, ...(await broken(flows))];
  if (before.length > 0) problems.push(`cut before: ${before.join(', ')}`);
  // Another edge carries their visitors, and it may be the one that is harmed.
  const carried = fault.costs?.startsWith('edge') ? await load.edgesWithoutAgents() : [];
  const since = performance.now();
  await fault.strike();
  const isWell = async (): Promise<boolean> => (await fault.isBack()) && load.streams.isWell();
  if (!(await eventuallyTrue(isWell, BACK_MS))) problems.push(`not well again: ${load.streams.unwell().join(', ')}`);
  const back = performance.now();
  await delay(NOTICE_MS);
  const noticed = await load.streams.since(since);
  const cut = await broken(flows);
  await Promise.all(flows.map((flow) => flow.end()));
  const besides = cut.filter((name) => fault.costs === undefined || !name.startsWith(fault.costs));
  const others = besides.filter((name) => !carried.includes(name));
  const lastFailedMs = Math.max(noticed.visitors.lastFailedSeconds, noticed.proxied.lastFailedSeconds) * 1_000;
  if (lastFailedMs > (fault.refusesMs ?? Infinity)) problems.push(`visitors were refused for ${lastFailedMs} ms`);
  if (others.length > 0) problems.push(`cut besides: ${others.join(', ')}`);
  return {
    name: fault.name,
    ...noticed,
    flows: flows.length,
    cut,
    cutCarried: besides.length - others.length,
    backSeconds: (back - since) / 1_000,
    inexact: await books.settle(),
    problems,
  };
}
