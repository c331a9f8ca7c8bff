import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { Platform } from '../supervisor/platform.js';
import { platformHome, readPlatformSettings } from '../supervisor/platform-settings.js';
import { KERNEL_PORT, SERVICES } from '../supervisor/service-list.js';
import { readState, runningState, type PlatformState } from '../supervisor/state-file.js';
import { table } from '../table.js';
import { memoryOf, processTree, type ProcessMemory } from './process-memory.js';

const TARGET_MIB = 600;
const IDLE_MS = 15_000;
const SETTLED_MIB = 2;
const MAX_WAITS = 8;

/** A name that tells what the process is: its script, or what PostgreSQL writes into its title. */
export function describeProcess(title: string, supervisorPid: number, pid: number): string {
  if (pid === supervisorPid) return 'supervisor';
  const script = /apps\/([^/]+)\/dist\/(\S+)/.exec(title);
  if (script !== null) return `${script[1]} ${basename(script[2] ?? '', '.js')}`;
  const postgres = /^postgres: (.+)$/.exec(title);
  if (postgres !== null) return `postgres: ${postgres[1]?.slice(0, 50)}`;
  return /(^|\/)postgres( |$)/.test(title) ? 'postgres postmaster' : title.slice(0, 60);
}

function measure(state: PlatformState): ProcessMemory[] {
  const roots = [
    ...state.services.map(({ pid }) => pid),
    ...(state.postgresPid === undefined ? [] : [state.postgresPid]),
  ];
  const own = memoryOf(state.pid);
  return [...(own === undefined ? [] : [own]), ...processTree(roots).flatMap((pid) => memoryOf(pid) ?? [])];
}

function sum(processes: ProcessMemory[], kind: 'rss' | 'pss'): number {
  return processes.reduce((total, process) => total + (process[kind] ?? 0), 0);
}

/** Waits until the total has stopped moving. */
async function measureIdle(state: PlatformState): Promise<ProcessMemory[]> {
  let before = Number.NaN;
  for (let i = 0; i < MAX_WAITS; i++) {
    await delay(IDLE_MS);
    const total = sum(measure(state), 'rss');
    if (Math.abs(total - before) < SETTLED_MIB) break;
    before = total;
  }
  return measure(state);
}

function report(state: PlatformState, processes: ProcessMemory[]): number {
  const row = (name: string, pid: string, rss: number, pss: number | undefined) => [
    name,
    pid,
    rss.toFixed(0).padStart(4),
    pss === undefined ? '   ?' : pss.toFixed(0).padStart(4),
  ];
  const rows = processes.map(({ title, pid, rss, pss }) =>
    row(describeProcess(title, state.pid, pid), String(pid), rss, pss),
  );
  const total = sum(processes, 'rss');
  const platform = total - (processes.find(({ pid }) => pid === state.pid)?.rss ?? 0);
  process.stdout.write(
    `${table([['process', 'pid', 'RSS MiB', 'PSS MiB'], ...rows, row('all', '', total, sum(processes, 'pss'))])}\n\n`,
  );
  const verdict = platform <= TARGET_MIB ? 'within' : 'ABOVE';
  process.stdout.write(
    `Services, workers, kernel and database: ${platform.toFixed(0)} MiB RSS, ${verdict} the target of ${TARGET_MIB} ` +
      `(${total.toFixed(0)} with the supervisor; ${sum(processes, 'pss').toFixed(0)} when shared pages are counted once).\n`,
  );
  return platform <= TARGET_MIB ? 0 : 1;
}

async function measureOwnPlatform(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-footprint-'));
  chmodSync(home, 0o755); // else root's PostgreSQL account could not reach it and would keep its data elsewhere
  const anyPort = Object.fromEntries(
    [...SERVICES.map(({ portVariable }) => portVariable), KERNEL_PORT.variable].map((name) => [name, '0']),
  );
  const env = { ...process.env, ...anyPort, GATEHOUSE_HOME: home };
  const platform = new Platform(readPlatformSettings(env), env, (line) => process.stderr.write(`${line}\n`));
  try {
    await platform.start();
    const state = readState(home);
    if (state === undefined) throw new PlainFailure('the platform that was started left no state file.');
    return report(state, await measureIdle(state));
  } finally {
    await platform.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** `npm run bench -- footprint`: memory of the running platform, or of one started for it in a home of its own. */
export async function footprintCommand(): Promise<number> {
  if (process.platform !== 'linux') throw new PlainFailure('the footprint is read from /proc: Linux only.');
  const running = runningState(platformHome(process.env));
  if (running === undefined) return measureOwnPlatform();
  process.stderr.write(`Measuring the running platform (pid ${running.pid})\n`);
  return report(running, await measureIdle(running));
}
