import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { offsetToMidnight, openClock, type Clock } from '../trials/clock.js';
import { interruption } from '../trials/interruption.js';
import { makeHome } from '../trials/own-platform.js';
import { describeRun, mergeRows, readTable, writeTable } from '../trials/page-table.js';
import { findInPath } from '../peers/programs.js';
import { table } from '../table.js';
import { sweepCommits, type SweepReport } from './commit-sweep.js';
import { usualFaults, type ReplicaFault } from './replica-faults.js';
import { ReplicaStage } from './replica-stage.js';
import { seeEachOther } from './shared-view.js';
import { sweptOperations } from './swept-operations.js';

const PAGE = join(ROOT, 'docs/reliability.md');
const PEERS = join(OWN, 'peers', 'bin');
const BEFORE_MS = 4_000;
const RECOVERY_MS = 120_000;
/** A stage with a clock of its own begins its life so long before a day ends. */
const BEFORE_MIDNIGHT_SECONDS = 600;
const SWEEP = 'commits';
const FAULT_HEADINGS = [
  'fault',
  'requests',
  'answered 503',
  'slowest',
  'recovered after',
  'seen by the other replica after',
  'wrong',
];
const SWEEP_HEADINGS = ['operation', 'connections ended', 'answered at once', 'wrong'];

interface Outcome {
  faults: string[][];
  sweeps: string[][];
  wrong: string[];
}

/**
 * `npm run replicas [-- --only TEXT …] [-- --rounds N] [-- --seed N] [-- --without-redis] [-- --write]`: two replicas of every
 * service on one PostgreSQL and one Redis (or with their queues in PostgreSQL), people at work on both, and faults between
 * them. After each fault all invariants are looked at. Resolves with 1 when one does not hold, when a request was answered 500,
 * or when a replica does not see what the other did.
 */
export const replicasCommand: Command = async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      'without-redis': { type: 'boolean' },
      write: { type: 'boolean' },
    },
  });
  const [rounds, seed] = [readWhole('--rounds', values.rounds), readWhole('--seed', values.seed)];
  if (process.platform !== 'linux') throw new PlainFailure('npm run replicas needs Linux.');
  const redisProgram =
    values['without-redis'] === true
      ? undefined
      : findInPath('redis-server', { path: `${PEERS}:${process.env['PATH'] ?? ''}`, except: '' });
  const outcome: Outcome = { faults: [], sweeps: [], wrong: [] };
  const isChosen = ({ name }: { name: string }): boolean => values.only?.some((text) => name.includes(text)) ?? true;
  const chosen = usualFaults(redisProgram !== undefined).filter(isChosen);
  const sweeps = isChosen({ name: SWEEP });
  say(`Seed ${seed}. ${describeRun()}`);
  for (let round = 0; round < rounds; round += 1) {
    const plan = { redisProgram, seed: seed + round, outcome };
    const [usual, ofClock] = [chosen.filter((fault) => !fault.needsClock), chosen.filter((fault) => fault.needsClock)];
    if (usual.length > 0 || sweeps) await runOn({ ...plan, faults: usual, sweeps });
    if (ofClock.length > 0) await runOn({ ...plan, faults: ofClock, sweeps: false });
  }
  if (outcome.sweeps.length > 0) process.stdout.write(`\n${table([SWEEP_HEADINGS, ...outcome.sweeps])}\n`);
  if (outcome.faults.length > 0) process.stdout.write(`\n${table([FAULT_HEADINGS, ...outcome.faults])}\n`);
  for (const line of outcome.wrong) process.stdout.write(`${line}\n`);
  if (values.write === true) writeTables(outcome);
  return outcome.wrong.length === 0 ? 0 : 1;
};

function writeTables({ sweeps, faults }: Outcome): void {
  if (sweeps.length > 0) writeTable(PAGE, 'commits', [SWEEP_HEADINGS, ...sweeps], describeRun());
  const names = usualFaults(true).map(({ name }) => name);
  const rows = mergeRows(names, faults, readTable(PAGE, 'replicas'));
  if (faults.length > 0) writeTable(PAGE, 'replicas', [FAULT_HEADINGS, ...rows], describeRun());
}

function readWhole(option: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new PlainFailure(`${option} must be a whole number from 1, not ${text}.`);
}

/** What is tried on one stage. */
interface Plan {
  redisProgram: string | undefined;
  seed: number;
  /** All of them need a clock that can be set, or none. */
  faults: readonly ReplicaFault[];
  sweeps: boolean;
  outcome: Outcome;
}

async function runOn({ redisProgram, seed, faults, sweeps, outcome }: Plan): Promise<void> {
  const isTried = sweeps || faults.some(({ leftOut: reason }) => reason === undefined);
  if (!isTried) return void outcome.faults.push(...faults.map(leftOut));
  const { home, remove } = makeHome();
  let clock: Clock | undefined;
  try {
    say('starting PostgreSQL, Redis and two replicas of each service ...');
    clock = faults.some(({ needsClock }) => needsClock) ? await openClock(home) : undefined;
    clock?.set(offsetToMidnight(BEFORE_MIDNIGHT_SECONDS));
    await using stage = await ReplicaStage.open({ home, redisProgram, clock, seed });
    await Promise.race([interruption(), tryAll(stage, faults, sweeps, outcome)]);
  } finally {
    clock?.close();
    remove();
  }
}

async function tryAll(
  stage: ReplicaStage,
  faults: readonly ReplicaFault[],
  sweeps: boolean,
  outcome: Outcome,
): Promise<void> {
  if (sweeps) await sweepAll(stage, outcome);
  for (const fault of faults) {
    say(`${fault.name} ...`);
    outcome.faults.push(fault.leftOut === undefined ? await tryOne(stage, fault, outcome.wrong) : leftOut(fault));
    say(`  ${outcome.faults.at(-1)?.slice(1).join(' | ')}`);
  }
}

async function sweepAll(stage: ReplicaStage, outcome: Outcome): Promise<void> {
  for (const operation of await sweptOperations(stage.set, stage.answerLog)) {
    say(`${operation.service}, ${operation.name}: ending the connection at each commit ...`);
    stage.answerLog.drain();
    const report = await sweepCommits(stage.set, operation);
    const broken = [...report.broken, ...unique(stage.answerLog.drain().wrong), ...(await stage.settle())];
    outcome.sweeps.push([
      operation.name,
      ...describeSweep(report),
      broken.length === 0 ? 'nothing' : `${broken.length}`,
    ]);
    for (const line of broken) outcome.wrong.push(`${operation.name}: ${line}`);
    say(`  ${outcome.sweeps.at(-1)?.slice(1).join(' | ')}`);
  }
}

function describeSweep({ cuts }: SweepReport): string[] {
  const before = cuts.filter(({ moment }) => moment === 'before').length;
  const statuses = Map.groupBy(cuts, ({ status }) => status);
  const answered = [...statuses].toSorted(([a], [b]) => a - b).map(([status, { length }]) => `${length} × ${status}`);
  return [`${before} before, ${cuts.length - before} after a commit`, answered.join(', ')];
}

async function tryOne(stage: ReplicaStage, fault: ReplicaFault, wrong: string[]): Promise<string[]> {
  stage.answerLog.drain();
  stage.begin();
  await delay(BEFORE_MS);
  const remark = await fault.strike(stage);
  const undone = performance.now();
  const isBack = await eventuallyTrue(async () => (await stage.set.unready()).length === 0, RECOVERY_MS);
  const backMs = performance.now() - undone;
  const view = isBack ? await seeEachOther(stage.administrators) : { slowestMs: 0, unseen: ['not asked'] };
  const found = isBack ? [] : [`not ready again: ${(await stage.set.unready()).join(', ')}`];
  found.push(...view.unseen.map((what) => `not seen in time: ${what}`), ...(await stage.settle()));
  const { asked, putOff, unanswered, slowestMs, wrong: answers } = stage.answerLog.drain();
  found.push(...unique(answers));
  if (unanswered > 0) found.push(`${unanswered} requests had no answer`);
  for (const line of found) {
    wrong.push(`${fault.name}: ${line}`);
    say(`  wrong: ${line}`);
  }
  return [
    remark === undefined ? fault.name : `${fault.name} (${remark})`,
    String(asked),
    String(putOff),
    seconds(slowestMs),
    isBack ? seconds(backMs) : 'no',
    seconds(view.slowestMs),
    found.length === 0 ? 'nothing' : String(found.length),
  ];
}

const leftOut = ({ name, leftOut: reason = '' }: ReplicaFault): string[] => [
  name,
  `left out: ${reason}`,
  '',
  '',
  '',
  '',
  '',
];

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function unique(lines: readonly string[]): string[] {
  return [...Map.groupBy(lines, (line) => line)].map(([line, { length }]) =>
    length === 1 ? line : `${line} (${length} times)`,
  );
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
