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
 * Ends the connection to the database at the first commit of an operation, then at the second, and so on until there is no
 * further one: each before the COMMIT is sent and after it was carried out. The client then does what clients do, and repeats
 * the request at the other replica. It must have happened once.
 */
export async function sweepCommits(set: ReplicaSet, operation: SweptOperation): Promise<SweepReport> {
  const report: SweepReport = { cuts: [], broken: [] };
  for (const moment of ['before', 'after'] as const) {
    for (let commit = 1; ; commit += 1) {
      const cut = await tryCommit(set, operation, { moment, commit }, report);
      if (cut === undefined) break;
      if (commit === MOST_COMMITS) report.broken.push(`more than ${MOST_COMMITS} commits`);
      if (commit === MOST_COMMITS) break;
    }
  }
  if (report.cuts.length === 0) report.broken.push('no commit was seen');
  return report;
}

interface Target {
  moment: CutMoment;
  /** From 1. */
  commit: number;
}

async function tryCommit(
  set: ReplicaSet,
  operation: SweptOperation,
  { moment, commit }: Target,
  report: SweepReport,
): Promise<CommitPoint | undefined> {
  const {
    client,
    request,
    effects,
    isDone = isSuccess,
  } = await operation.prepare(`sweep${randomBytes(8).toString('hex')}`);
  const database = set.of(operation.service)[0]?.database;
  if (database === undefined) throw new Error(`${operation.service} does not run`);
  const armed = cutAt(commit, moment);
  database.decide = armed.decide;
  let first: ReplicaAnswer;
  try {
    first = await client.ask(0, request);
  } finally {
    database.decide = () => undefined;
  }
  const final = isFinal(first) ? first : await client.insist(1, request);
  const where = `${operation.name}, ${moment} commit ${commit} (${armed.point?.wrote ?? 'not reached'})`;
  if (!isLost(final) && !isDone(final)) {
    report.broken.push(`${where}: answered ${final.status} ${JSON.stringify(final.body).slice(0, 200)}`);
  } else {
    const count = await effects(final);
    if (count !== 1) report.broken.push(`${where}: took effect ${count} times`);
  }
  if (armed.point === undefined) return undefined;
  report.cuts.push({ moment, wrote: armed.point.wrote, status: first.status });
  return armed.point;
}

const isSuccess = ({ status }: ReplicaAnswer): boolean => status >= 200 && status <= 299;

function cutAt(commit: number, moment: CutMoment): { decide: CommitDecision; point: CommitPoint | undefined } {
  let seen = 0;
  const armed: { decide: CommitDecision; point: CommitPoint | undefined } = {
    point: undefined,
    decide: (point) => {
      seen += 1;
      if (seen !== commit) return undefined;
      armed.point = point;
      return moment;
    },
  };
  return armed;
}
