import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { findInPath } from '../peers/programs.js';
import { table } from '../table.js';
import { interruption } from '../trials/interruption.js';
import { makeHome } from '../trials/own-platform.js';
import { describeRun, mergeRows, readTable, writeTable } from '../trials/page-table.js';
import type { Shape } from './places.js';
import { buildPrevious } from './previous-build.js';
import { isClean, type Replacement } from './replace.js';
import { ScaleStage } from './scale-stage.js';
import type { FaultReport } from './try-fault.js';
import type { Tally } from './user-streams.js';

const PAGE = join(ROOT, 'docs/reliability.md');
const PEERS = join(OWN, 'peers', 'bin');
const THREE = { shape: shape({ service: 3, kernel: 3, worker: 2 }), slowness: 1 };
/** For busy machines. What is there once is not replaced, and its users notice when it is killed. */
const FEW = { shape: shape({ service: 1, kernel: 2, worker: 1 }), slowness: 5 };
const USERS = ['API requests', 'visitors', 'proxied flows', 'open flows'];
const REPLACED = ['replaced', ...USERS, 'stopped in', 'back after'];
const HARMED = ['fault', ...USERS, 'last visitor refused after', 'back after', 'not exact'];

function shape({ service, kernel, worker }: { service: number; kernel: number; worker: number }): Shape {
  return {
    'proxy-gateway': service,
    'resource-sharing': service,
    'tunnel-gateway': service,
    kernel,
    edge: 3,
    'proxy-gateway worker': worker,
    'resource-sharing worker': worker,
    'tunnel-gateway worker': worker,
  };
}

interface Outcome {
  rows: string[][];
  /** What should not have happened. */
  wrong: string[];
}

/**
 * `npm run rehearse:scale [-- --faults] [-- --few] [-- --only TEXT …] [-- --previous REF] [-- --write]`: three copies of every service,
 * kernel and edge behind haproxy and two workers of each service, under load. Each process is replaced in order, one after the
 * other; with `--faults` it is killed instead, and so are the network and what all share. With `--previous`, everything starts
 * from the build of that commit and is replaced by this one. Resolves with 1 when users noticed what they should not.
 */
export const scaleCommand: Command = async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      faults: { type: 'boolean', default: false },
      few: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      previous: { type: 'string' },
      write: { type: 'boolean' },
    },
  });
  const { faults, few, only } = values;
  if (process.platform !== 'linux') throw new PlainFailure('npm run rehearse:scale needs Linux.');
  const path = `${PEERS}:${process.env['PATH'] ?? ''}`;
  const haproxy = findInPath('haproxy', { path, except: '' });
  if (haproxy === undefined) throw new PlainFailure('npm run rehearse:scale needs haproxy: npm run peers.');
  const redisProgram = findInPath('redis-server', { path, except: '' });
  const previous = values.previous === undefined ? undefined : await buildPrevious(values.previous, say);
  const { home, remove } = makeHome();
  const outcome: Outcome = { rows: [], wrong: [] };
  const isChosen = (name: string): boolean => only?.some((text) => name.includes(text)) ?? true;
  // Whoever interrupts the start waits for its end: what was started has to be ended.
  const interrupted = interruption();
  interrupted.catch(() => undefined);
  try {
    await using stage = await ScaleStage.open({ home, haproxy, redisProgram, ...(few ? FEW : THREE), previous, say });
    await Promise.race([interrupted, (faults ? harmAll : replaceAll)(stage, isChosen, outcome)]);
    for (const line of stage.failures) process.stdout.write(`${line}\n`);
  } finally {
    remove();
  }
  const cells = [faults ? HARMED : REPLACED, ...outcome.rows];
  process.stdout.write(`\n${table(cells)}\n`);
  for (const line of outcome.wrong) process.stdout.write(`${line}\n`);
  if (values.write === true) write(faults ? 'scale-faults' : previous === undefined ? 'scale' : 'upgrade', cells);
  return outcome.wrong.length === 0 ? 0 : 1;
};

/** A run of some of the faults leaves the rows of the others. */
function write(name: string, [headings = [], ...rows]: string[][]): void {
  const former = readTable(PAGE, name);
  const names = [...former, ...rows].map(([first = '']) => first);
  writeTable(PAGE, name, [headings, ...mergeRows([...new Set(names)], rows, former)], describeRun());
}

async function replaceAll(
  stage: ScaleStage,
  isChosen: (name: string) => boolean,
  { rows, wrong }: Outcome,
): Promise<void> {
  for await (const report of stage.replaceAll(isChosen)) {
    note(rows, replacedRow(report));
    const problems = [...report.cut.map((flow) => `cut: ${flow}`), ...report.problems];
    if (!isClean(report)) blame(wrong, report.name, problems.length > 0 ? problems : ['users noticed it']);
  }
  blame(wrong, 'in the end', await stage.settle());
}

async function harmAll(
  stage: ScaleStage,
  isChosen: (name: string) => boolean,
  { rows, wrong }: Outcome,
): Promise<void> {
  for await (const report of stage.harmAll(isChosen)) {
    note(rows, harmedRow(report));
    blame(wrong, report.name, report.problems);
  }
}

function note(rows: string[][], row: string[]): void {
  rows.push(row);
  say(row.join(' | '));
}

function blame(wrong: string[], name: string, problems: readonly string[]): void {
  for (const problem of problems) {
    wrong.push(`${name}: ${problem}`);
    say(`  ${problem}`);
  }
}

function replacedRow({ name, flows, cut, stopSeconds, backSeconds, ...tallies }: Replacement): string[] {
  const noticed = [tallies.requests, tallies.visitors, tallies.proxied].map(failed);
  return [name, ...noticed, `${cut.length} of ${flows} cut`, seconds(stopSeconds), seconds(backSeconds)];
}

function harmedRow({ name, flows, cut, cutCarried, backSeconds, inexact, ...tallies }: FaultReport): string[] {
  const { requests, visitors, proxied } = tallies;
  const noticed = [requests, visitors, proxied].map((tally) => `${failed(tally)}${beside(tally)}`);
  const lastFailed = Math.max(visitors.lastFailedSeconds, proxied.lastFailedSeconds);
  const refused = visitors.failed + proxied.failed === 0 ? 'nobody was' : seconds(lastFailed);
  const exact = inexact.length === 0 ? 'nothing' : inexact.join(', ');
  const carried = cutCarried === 0 ? '' : `, ${cutCarried} carried for another edge`;
  return [name, ...noticed, `${cut.length} of ${flows} cut${carried}`, refused, seconds(backSeconds), exact];
}

const failed = (tally: Tally): string => `${tally.failed} of ${tally.done} failed`;

function beside({ cut, slowestSeconds }: Tally): string {
  return `${cut === 0 ? '' : `, ${cut} cut`}${slowestSeconds < 1 ? '' : `, slowest ${seconds(slowestSeconds)}`}`;
}

const seconds = (value: number): string => `${value.toFixed(1)} s`;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
