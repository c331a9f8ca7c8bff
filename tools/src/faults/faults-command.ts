import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { interruption } from '../trials/interruption.js';
import { describeRun, mergeRows, readTable, writeTable } from '../trials/page-table.js';
import { table } from '../table.js';
import { findInPath } from '../peers/programs.js';
import { openClock, type Clock } from '../trials/clock.js';
import { faults, mountDisk, type Fault } from './fault-list.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { makeHome } from '../trials/own-platform.js';
import { Stage, type Counters } from './stage.js';
import type { StreamReport } from '../trials/steady-traffic.js';

const PEERS = join(OWN, 'peers', 'bin');
const BEFORE_MS = 3_000;
const RECOVERY_MS = 120_000;
const SETTLED_MS = 3_000;
/** Counters are written once a second, logs a little later; what waited in a queue takes its time. */
const COUNTED_MS = 60_000;
const QUIET_MS = 5_000;
const PAGE = join(ROOT, 'docs/reliability.md');
const HEADINGS = ['fault', 'proxied requests', 'tunnel visitors', 'open-API calls', 'lost', 'recovered after'];

/**
 * `npm run faults [-- --only TEXT] [-- --write]`: does harm to a platform of its own while people use it, and prints what they
 * saw, what was lost and what recovered without help. `--write` puts the table into docs/reliability.md. Resolves with 1 when
 * anything did not come back.
 */
export const faultsCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { only: { type: 'string' }, write: { type: 'boolean' } } });
  if (process.platform !== 'linux') throw new PlainFailure('npm run faults needs Linux: it finds processes in /proc.');
  const redisProgram = findInPath('redis-server', { path: `${PEERS}:${process.env['PATH'] ?? ''}`, except: '' });
  const rows: string[][] = [];
  let allBack = true;
  for (const needsClock of [false, true]) {
    const results = await onPlatform({ redisProgram, needsClock, only: values.only });
    rows.push(...results.rows);
    allBack &&= results.allBack;
  }
  process.stdout.write(`\n${table([HEADINGS, ...rows])}\n`);
  if (values.write === true) {
    const names = faults({ hasRedis: true, hasOwnDisk: true }).map(({ name }) => name);
    writeTable(PAGE, 'faults', [HEADINGS, ...mergeRows(names, rows, readTable(PAGE, 'faults'))], describeRun());
  }
  return allBack ? 0 : 1;
};

interface Choice {
  redisProgram: string | undefined;
  needsClock: boolean;
  only: string | undefined;
}

/** Tries the chosen faults that strike the same platform, one after the other. */
async function onPlatform({ redisProgram, needsClock, only }: Choice): ReturnType<typeof tryAll> {
  const { home, remove } = makeHome();
  const unmount = mountDisk(home);
  let clock: Clock | undefined;
  try {
    const all = faults({ hasRedis: redisProgram !== undefined, hasOwnDisk: unmount !== undefined });
    const chosen = all.filter(
      (fault) => (fault.needsClock ?? false) === needsClock && (only === undefined || fault.name.includes(only)),
    );
    if (chosen.every(({ leftOut }) => leftOut !== undefined)) return { rows: chosen.map(leftOutRow), allBack: true };
    clock = needsClock ? await openClock(home) : undefined;
    return await runOn(await Stage.open({ home, redisProgram, clock }), chosen);
  } finally {
    clock?.close();
    unmount?.();
    remove();
  }
}

const leftOutRow = ({ name, leftOut }: Fault): string[] => [name, `left out: ${leftOut}`, '', '', '', ''];

async function runOn(stage: Stage, chosen: readonly Fault[]): ReturnType<typeof tryAll> {
  try {
    return await Promise.race([tryAll(chosen, stage), interruption()]);
  } finally {
    await stage.close();
  }
}

async function tryAll(chosen: readonly Fault[], stage: Stage): Promise<{ rows: string[][]; allBack: boolean }> {
  const rows: string[][] = [];
  let allBack = true;
  for (const fault of chosen) {
    if (fault.leftOut !== undefined) {
      rows.push(leftOutRow(fault));
      continue;
    }
    process.stderr.write(`${fault.name} ...\n`);
    const { row, isBack } = await tryOne(fault, stage);
    process.stderr.write(`  ${row.slice(1).join(' | ')}\n`);
    rows.push(row);
    allBack &&= isBack;
    if (!stage.isRunning) throw new PlainFailure(`the platform ended by "${fault.name}".`);
  }
  return { rows, allBack };
}

async function tryOne(fault: Fault, stage: Stage): Promise<{ row: string[]; isBack: boolean }> {
  const before = await settledCounters(stage);
  await delay(BEFORE_MS);
  const struck = performance.now();
  await fault.strike(stage);
  const undone = performance.now();
  const wellAt = await whenWell(stage);
  const isBack = wellAt !== undefined;
  const reports = await Promise.all(stage.streams.map((stream) => stream.reportSince(struck)));
  const lost = isBack ? await lossSince(before, stage) : 'not known';
  const back = isBack
    ? `${(Math.max(0, wellAt - undone) / 1_000).toFixed(1)} s`
    : `no: ${(await stage.unready()).join(', ') || 'requests fail'}`;
  return { row: [fault.name, ...reports.map(describe), lost, back], isBack };
}

/** The moment from which on everything was well for a while: harm may show with a delay. Undefined: not in time. */
async function whenWell(stage: Stage): Promise<number | undefined> {
  let since: number | undefined;
  const isSettled = await eventuallyTrue(async () => {
    since = (await isWell(stage)) ? (since ?? performance.now()) : undefined;
    return since !== undefined && performance.now() - since >= SETTLED_MS;
  }, RECOVERY_MS);
  return isSettled ? since : undefined;
}

async function isWell(stage: Stage): Promise<boolean> {
  return stage.streams.every((stream) => stream.isWell()) && (await stage.unready()).length === 0;
}

function describe({ requests, failed, outageSeconds, slowestSeconds }: StreamReport): string {
  const slowest = slowestSeconds >= 1 ? `, slowest ${slowestSeconds.toFixed(1)} s` : '';
  if (failed === 0) return `0 of ${requests} failed${slowest}`;
  return `${failed} of ${requests} failed, ${outageSeconds.toFixed(1)} s without an answer${slowest}`;
}

/**
 * What has moved, with nothing under way and everything written: counters come a second later, and what is compared while
 * people go on would hide a loss of that second.
 */
async function settledCounters(stage: Stage): Promise<Counters> {
  await Promise.all(stage.streams.map((stream) => stream.pause()));
  let counters = await stage.counters();
  await eventuallyTrue(async () => {
    await delay(QUIET_MS);
    const former = counters;
    counters = await stage.counters();
    return former.tunnelCounted === counters.tunnelCounted && former.proxyLogged === counters.proxyLogged;
  }, COUNTED_MS);
  for (const stream of stage.streams) stream.resume();
  return counters;
}

/** What users' own sockets moved against what was counted and logged. */
async function lossSince(before: Counters, stage: Stage): Promise<string> {
  const now = await settledCounters(stage);
  const bytes = now.tunnelReceived - before.tunnelReceived - (now.tunnelCounted - before.tunnelCounted);
  const requests = now.proxyAnswered - before.proxyAnswered - (now.proxyLogged - before.proxyLogged);
  const lost = [
    ...(bytes > 0 ? [`${bytes} bytes of the tunnel's counter`] : []),
    ...(requests > 0 ? [`${requests} of the proxy's log rows`] : []),
  ];
  return lost.length === 0 ? 'nothing' : lost.join(', ');
}
