import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { parentOf } from '../../bootstrap/process-identity.mjs';
import { Platform } from '../supervisor/platform.js';
import { platformHome, readPlatformSettings } from '../supervisor/platform-settings.js';
import { KERNEL_PORT, SERVICES } from '../supervisor/service-list.js';
import { readState, runningState, type PlatformState } from '../supervisor/state-file.js';
import { table } from '../table.js';
import type { PrintedTable } from './results.js';
import { memoryOf, processTree, type ProcessMemory } from './process-memory.js';

const TARGET_MB = 600;
const MB_PER_MIB = 2 ** 20 / 1e6;
const SETTLE_MS = 15_000;
const SETTLED_MIB = 2;
const MAX_WAITS = 8;
// The idle platform breathes: now and then a pool opens a connection for a look and closes it again.
const SAMPLES = 11;
const SAMPLE_MS = 3_000;

/** Takes a table for the page of the benchmark. */
type Keep = (table: PrintedTable) => void;

/** One look: the platform itself, and the programs that only started it. */
interface Sample {
  platform: ProcessMemory[];
  launchers: ProcessMemory[];
}

/** A name that identifies the process: its script, or what PostgreSQL writes into its title. */
export function describeProcess(title: string, supervisorPid: number, pid: number): string {
  if (pid === supervisorPid) return 'supervisor';
  const script = /apps\/([^/]+)\/(?:dist|bundle)\/(\S+)/.exec(title);
  if (script !== null) return `${script[1]} ${basename(script[2] ?? '', '.js')}`;
  const postgres = /^postgres: (.+)$/.exec(title);
  if (postgres !== null) return `postgres: ${postgres[1]?.slice(0, 50)}`;
  return /(^|\/)postgres( |$)/.test(title) ? 'postgres postmaster' : title.slice(0, 60);
}

function measure(state: PlatformState): Sample {
  const roots = [
    ...state.services.map(({ pid }) => pid),
    ...(state.postgresPid === undefined ? [] : [state.postgresPid]),
  ];
  const look = (pids: number[]): ProcessMemory[] => pids.flatMap((pid) => memoryOf(pid) ?? []);
  return { platform: look(processTree(roots)), launchers: look(launchersOf(state.pid)) };
}

/** The supervisor and what it was started through: tools/up.mjs on another Node, a shell, npm. */
function launchersOf(supervisor: number): number[] {
  const found = [supervisor];
  for (let pid = parentOf(supervisor); pid !== undefined && pid > 1; pid = parentOf(pid)) {
    if (!/\bnpm\b|tools\/up\.mjs/.test(memoryOf(pid)?.title ?? '')) break;
    found.push(pid);
  }
  return found;
}

function sum(processes: ProcessMemory[], kind: 'rss' | 'pss'): number {
  return processes.reduce((total, process) => total + (process[kind] ?? 0), 0);
}

/** Waits until the total has stopped moving, then looks for half a minute; smallest total first. */
async function measureIdle(state: PlatformState): Promise<Sample[]> {
  let before = Number.NaN;
  for (let i = 0; i < MAX_WAITS; i++) {
    await delay(SETTLE_MS);
    const total = sum(measure(state).platform, 'rss');
    if (Math.abs(total - before) < SETTLED_MIB) break;
    before = total;
  }
  const samples: Sample[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    samples.push(measure(state));
    await delay(SAMPLE_MS);
  }
  return samples.sort((a, b) => sum(a.platform, 'rss') - sum(b.platform, 'rss'));
}

function row(name: string, pid: string, rss: number, pss: number | undefined): string[] {
  return [name, pid, rss.toFixed(0).padStart(4), pss === undefined ? '   ?' : pss.toFixed(0).padStart(4)];
}

function report(state: PlatformState, samples: Sample[], keep: Keep): number {
  const middle = samples[Math.floor(samples.length / 2)] ?? measure(state);
  const total = sum(middle.platform, 'rss');
  const megabytes = total * MB_PER_MIB;
  const rows = (processes: ProcessMemory[]): string[][] =>
    processes.map(({ title, pid, rss, pss }) => row(describeProcess(title, state.pid, pid), String(pid), rss, pss));
  const head = ['process', 'pid', 'RSS MiB', 'PSS MiB'];
  const all = row('services, kernel, database', '', total, sum(middle.platform, 'pss'));
  const totals = samples.map(({ platform }) => sum(platform, 'rss').toFixed(0));
  // Process ids mean something on the screen only.
  const rowsOfPage = [...rows(middle.platform), all].map(([process = '', , ...figures]) => [process, ...figures]);
  keep({
    name: 'together',
    columns: ['', 'RSS MB', 'RSS MiB', 'PSS MiB', 'least RSS MiB', 'most RSS MiB'],
    rows: [['the idle platform', megabytes.toFixed(0), ...all.slice(2), totals[0] ?? '', totals.at(-1) ?? '']],
  });
  keep({ name: 'processes', columns: ['process', 'RSS MiB', 'PSS MiB'], rows: rowsOfPage });
  process.stdout.write(
    `${table([head, ...rows(middle.platform), all])}\n\n` +
      `${table([['only launchers', ...head.slice(1)], ...rows(middle.launchers)])}\n\n` +
      `Services, workers, kernel and database: ${total.toFixed(0)} MiB (${megabytes.toFixed(0)} MB) RSS, ` +
      `${megabytes < TARGET_MB ? 'within' : 'ABOVE'} the target of ${TARGET_MB} MB ` +
      `(the middle of ${samples.length} looks; ${totals[0]} to ${totals.at(-1)} MiB).\n`,
  );
  return megabytes < TARGET_MB ? 0 : 1;
}

async function measureOwnPlatform(keep: Keep): Promise<number> {
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
    return report(state, await measureIdle(state), keep);
  } finally {
    await platform.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** `npm run bench -- footprint`: memory of the running platform, or of one started for it in a home of its own. */
export async function footprintCommand(keep: Keep): Promise<number> {
  if (process.platform !== 'linux') throw new PlainFailure('the footprint is read from /proc: Linux only.');
  const running = runningState(platformHome(process.env));
  if (running === undefined) return measureOwnPlatform(keep);
  process.stderr.write(`Measuring the running platform (pid ${running.pid})\n`);
  return report(running, await measureIdle(running), keep);
}
