import { setTimeout as delay } from 'node:timers/promises';
import { eventuallyTrue } from '../trials/eventually-true.js';
import type { Bystanders } from './bystanders.js';
import { Chance } from '../trials/chance.js';
import type { Ground } from './ground.js';
import type { HostileAttack } from './hostile-attack.js';
import { awaitRelease, census, countDescriptors, type Held } from './processes.js';
import { strike, Watchman } from './trial.js';

const LOOK_MS = 30_000;
const WELL_MS = 60_000;

export interface StormPlan {
  seed: number;
  /** How many attacks run at a time. */
  lanes: number;
  /** The next one and how much of it; undefined: enough. */
  next(chance: Chance): { attack: HostileAttack; scale: number } | undefined;
  settleMs: number;
  report: (this: void, line: string) => void;
}

export interface Tried {
  attack: HostileAttack;
  times: number;
  /** How often something was in its way. */
  untried: number;
  /** The last time. */
  sent: string;
  findings: Set<string>;
}

export interface StormReport {
  /** By name: how often it was tried, and what it found. */
  tried: Map<string, Tried>;
  incidents: string[];
  held: Held;
  requests: number;
  failed: number;
  cuts: number;
  slowest: { name: string; seconds: number };
}

/** Many attacks at once, in an order that the seed decides, while the bystanders go on. */
export async function storm(ground: Ground, bystanders: Bystanders, plan: StormPlan): Promise<StormReport> {
  const descriptors = countDescriptors(census(ground));
  const watchman = new Watchman(ground, plan.report);
  const report: StormReport = {
    tried: new Map(),
    incidents: watchman.incidents,
    held: { isBack: false, text: '' },
    requests: 0,
    failed: 0,
    cuts: 0,
    slowest: { name: '', seconds: 0 },
  };
  const over = new AbortController();
  const looking = look(bystanders, watchman, report, over.signal);
  const order = new Chance(plan.seed);
  await Promise.all(Array.from({ length: plan.lanes }, () => lane({ ground, watchman, report, order, plan })));
  plan.report('the last attack is over');
  for (const { attack, times, untried } of report.tried.values()) {
    if (untried === times) watchman.note(`${attack.name} could not be tried once`);
  }
  if (!(await eventuallyTrue(() => Promise.resolve(bystanders.areWell()), WELL_MS))) {
    watchman.note('bystanders are not well a minute after the last attack');
  }
  report.held = await awaitRelease(descriptors, ground, plan.settleMs);
  if (!report.held.isBack) watchman.note(`not given back: ${report.held.text}`);
  over.abort();
  await looking;
  await watchman.stop();
  return report;
}

interface Lane {
  ground: Ground;
  watchman: Watchman;
  report: StormReport;
  order: Chance;
  plan: StormPlan;
}

async function lane({ ground, watchman, report, order, plan }: Lane): Promise<void> {
  for (;;) {
    const chosen = plan.next(order);
    if (chosen === undefined) return;
    const { attack, scale } = chosen;
    const chance = new Chance(order.below(2 ** 31));
    await ground.awaitAgents().catch((error: Error) => watchman.note(error.message));
    watchman.running.add(attack.name);
    const { sent, findings, untried } = await strike(attack, { ground, chance, scale });
    for (const finding of findings) watchman.note(`${attack.name}: ${finding}`);
    watchman.running.delete(attack.name);
    const row = report.tried.get(attack.name) ?? { attack, times: 0, untried: 0, sent, findings: new Set<string>() };
    row.times += 1;
    if (untried === undefined) row.sent = sent;
    else {
      // Others may be in its way for a while. The end of the run names an attack that never got through to its work.
      row.untried += 1;
      plan.report(`${attack.name} could not be tried: ${untried}`);
    }
    for (const finding of findings) row.findings.add(finding);
    report.tried.set(attack.name, row);
  }
}

/** What bystanders see, half a minute at a time, so that it can be said what went on. */
async function look(
  bystanders: Bystanders,
  watchman: Watchman,
  report: StormReport,
  signal: AbortSignal,
): Promise<void> {
  let since = performance.now();
  let isLast = false;
  while (!isLast) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    isLast = signal.aborted;
    const until = performance.now();
    const { findings, requests, failed, cuts, slowest } = await bystanders.noticeSince(since);
    since = until;
    report.requests += requests;
    report.failed += failed;
    report.cuts += cuts;
    if (slowest.seconds > report.slowest.seconds) report.slowest = slowest;
    for (const finding of findings) watchman.note(finding);
  }
}
