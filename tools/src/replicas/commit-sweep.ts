import { randomBytes } from 'node:crypto';
import type { CutMoment, CommitDecision } from './postgres-carrier.js';
import type { CommitPoint } from './commit-watch.js';
import { isFinal, isLost, type ReplicaAnswer } from './replica-client.js';
import type { ReplicaSet } from './replica-set.js';
import type { SweptOperation } from './swept-round.js';

/** An operation with more commits than this is not swept to its end, which is reported. */
const MOST_COMMITS = 15;

export interface SweepReport {
  /** What each connection that was ended had written. */
  cuts: { moment: CutMoment; wrote: string; status: number }[];
  /** What is wrong. */
  broken: string[];
}

/**
 * Ends the connection to the database at one commit of an operation after the other, until each was reached: before the
 * COMMIT is sent, and after it was carried out. The client then does what clients do, and repeats the request at the other
 * replica. It must have happened once. A commit is known by what it wrote, because work in the background commits in
 * between and moves the operation's own commit to another place in the order.
 */
export async function sweepCommits(set: ReplicaSet, operation: SweptOperation): Promise<SweepReport> {
  const report: SweepReport = { cuts: [], broken: [] };
  for (const moment of ['before', 'after'] as const) {
    const tried = new Set<string>();
    while (await tryCommit(set, operation, { moment, tried }, report)) {
      if (tried.size < MOST_COMMITS) continue;
      report.broken.push(`more than ${MOST_COMMITS} commits: ${[...tried].join(', ')}`);
      break;
    }
  }
  if (report.cuts.length === 0) report.broken.push('no commit was seen');
  return report;
}

interface Target {
  moment: CutMoment;
  /** The commits of earlier rounds: what each wrote, and which one of its kind in the round it was. The next is added. */
  tried: Set<string>;
}

async function tryCommit(
  set: ReplicaSet,
  operation: SweptOperation,
  { moment, tried }: Target,
  report: SweepReport,
): Promise<boolean> {
  const {
    client,
    request,
    effects,
    isDone = isSuccess,
  } = await operation.prepare(`sweep${randomBytes(8).toString('hex')}`);
  const database = set.of(operation.service)[0]?.database;
  if (database === undefined) throw new Error(`${operation.service} does not run`);
  const armed = cutAtNext(tried, moment);
  database.decide = armed.decide;
  let first: ReplicaAnswer;
  try {
    first = await client.ask(0, request);
  } finally {
    database.decide = () => undefined;
  }
  const final = isFinal(first) ? first : await client.insist(1, request);
  const where = `${operation.name}, ${moment} ${armed.point?.wrote ?? 'no further commit'}`;
  if (!isLost(final) && !isDone(final)) {
    report.broken.push(`${where}: answered ${final.status} ${JSON.stringify(final.body).slice(0, 200)}`);
  } else {
    const count = await effects(final);
    if (count !== 1) report.broken.push(`${where}: took effect ${count} times`);
  }
  if (armed.point === undefined) return false;
  report.cuts.push({ moment, wrote: armed.point.wrote, status: first.status });
  return true;
}

const isSuccess = ({ status }: ReplicaAnswer): boolean => status >= 200 && status <= 299;

function cutAtNext(tried: Set<string>, moment: CutMoment): { decide: CommitDecision; point: CommitPoint | undefined } {
  const seen = new Map<string, number>();
  const armed: { decide: CommitDecision; point: CommitPoint | undefined } = {
    point: undefined,
    decide: (point) => {
      if (armed.point !== undefined) return undefined;
      const nth = (seen.get(point.wrote) ?? 0) + 1;
      seen.set(point.wrote, nth);
      const commit = `${point.wrote} #${nth}`;
      if (tried.has(commit)) return undefined;
      tried.add(commit);
      armed.point = point;
      return moment;
    },
  };
  return armed;
}
