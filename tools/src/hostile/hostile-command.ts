import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { interruption } from '../trials/interruption.js';
import { describeRun, writeTable } from '../trials/page-table.js';
import { platformHome } from '../supervisor/platform-settings.js';
import { table } from '../table.js';
import { HOSTILE_ATTACKS } from './attack-list.js';
import { Bystanders } from './bystanders.js';
import { Chance } from '../trials/chance.js';
import { Ground } from './ground.js';
import type { HostileAttack } from './hostile-attack.js';
import { runningPlatform, startPlatform } from './platform.js';
import { census, peakMemory } from './processes.js';
import { storm, type StormReport } from './storm.js';
import { describe, tryAttack } from './trial.js';

const HEADINGS = ['attack', 'by', 'what was sent', 'bystanders', 'processes ended', 'held after', 'verdict'];
const STORM_HEADINGS = ['attack', 'by', 'times', 'the last one', 'verdict'];
const PAGE = join(ROOT, 'docs/reliability.md');
const STORM_LANES = 3;
const QUICK_LANES = 6;
const QUICK_SCALE = 0.05;
const INTERRUPTED = 130;
const SETTLE_MS = 180_000;
const QUICK_SETTLE_MS = 60_000;

interface Wishes {
  only: string | undefined;
  minutes: number;
  seed: number;
  quick: boolean;
  write: boolean;
}

/** What came of a run: rows with their heading, what was noticed, and a line about all. */
interface Result {
  rows: string[][];
  failures: string[];
  summary: string;
}

/**
 * `npm run hostile [-- --only TEXT] [--minutes N] [--seed N] [--quick] [--running]
 * [--write]`: hostile origins, nodes, clients, visitors, targets and
 * agents against a platform of its own, while bystanders use every part of it. Each attack once and alone; with `--minutes` a
 * mix of all for so long instead, with `--quick` small ones, all at once. `--running`: the platform that runs in this home.
 * `--write`: the table goes into docs/reliability.md. Resolves with 1 when a
 * bystander noticed anything, a process ended, something was not given back, or a count is wrong.
 */
export const hostileCommand: Command = async (args) => {
  if (process.platform !== 'linux') throw new PlainFailure('npm run hostile needs Linux: it finds processes in /proc.');
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      minutes: { type: 'string', default: '0' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      quick: { type: 'boolean', default: false },
      running: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const wishes: Wishes = {
    only: values.only,
    minutes: readNumber('--minutes', values.minutes),
    seed: readNumber('--seed', values.seed),
    quick: values.quick,
    write: values.write,
  };
  say(`Seed ${wishes.seed}. ${describeRun()}`);
  const isStopped = { yes: false };
  const platform = values.running ? runningPlatform(platformHome(process.env), process.env) : await startPlatform();
  try {
    const ground = await Ground.open(platform);
    try {
      return await Promise.race([attackAll(ground, wishes), interruption()]);
    } catch (error) {
      isStopped.yes = error instanceof PlainFailure && error.exitCode === INTERRUPTED;
      throw error;
    } finally {
      await ground.close();
    }
  } finally {
    await platform.close();
    // Attacks that are under way would go on against nobody.
    if (isStopped.yes) process.exit(INTERRUPTED);
  }
};

function readNumber(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new PlainFailure(`${option} has to be a number: ${text}`);
  return number;
}

const say = (line: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

async function attackAll(ground: Ground, wishes: Wishes): Promise<number> {
  const chosen = HOSTILE_ATTACKS.filter(
    ({ name, quick }) => (wishes.only === undefined || name.includes(wishes.only)) && (!wishes.quick || quick === true),
  );
  if (chosen.length === 0) throw new PlainFailure(`no attack has "${wishes.only ?? ''}" in its name.`);
  const bystanders = await Bystanders.start(ground);
  say(`${chosen.length} attacks; the bystanders are well`);
  const began = performance.now();
  let result: Result | undefined;
  let miscounts: string[] = [];
  try {
    result = await wayOf(wishes)({ ground, bystanders, chosen, wishes });
  } finally {
    say('comparing what the bystanders moved with what was counted');
    miscounts = await bystanders.settleAccounts();
  }
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  return conclude(ground, wishes, { ...result, failures: [...result.failures, ...miscounts] }, minutes);
}

function conclude(ground: Ground, wishes: Wishes, { rows, summary, failures }: Result, minutes: string): number {
  const memory = [...peakMemory(census(ground))].map(([name, size]) => `${name} ${size}`).join(', ');
  const verdict = failures.length === 0 ? 'Nobody noticed.' : 'It was noticed.';
  const text = `${summary} ${minutes} minutes, seed ${wishes.seed}. Peak memory in MiB: ${memory}. ${verdict}`;
  process.stdout.write(`\n${table(rows)}\n\n`);
  for (const failure of failures) process.stdout.write(`  ${failure}\n`);
  process.stdout.write(`\n${text}\n`);
  if (wishes.write) writeTable(PAGE, 'hostile', rows, `${describeRun()} ${text}`);
  return failures.length === 0 ? 0 : 1;
}

interface Run {
  ground: Ground;
  bystanders: Bystanders;
  chosen: readonly HostileAttack[];
  wishes: Wishes;
}

type Way = (run: Run) => Promise<Result>;

function wayOf({ quick, minutes }: Wishes): Way {
  if (quick) return quickStorm;
  return minutes > 0 ? longStorm : oneByOne;
}

const oneByOne: Way = async ({ ground, bystanders, chosen, wishes: { seed } }) => {
  const rows = [HEADINGS];
  const failures: string[] = [];
  for (const attack of chosen) {
    say(`${attack.name} ...`);
    const assault = { ground, chance: new Chance(seed), scale: 1 };
    const { sent, bystanders: saw, ended, held, findings } = await tryAttack(attack, assault, bystanders);
    const verdict = findings.length === 0 ? 'held' : 'NOTICED';
    say(`  ${verdict}${findings.map((finding) => `\n    ${finding}`).join('')}`);
    failures.push(...findings.map((finding) => `${attack.name}: ${finding}`));
    rows.push([attack.name, attack.role, sent, saw, ended.join(', ') || 'none', held, verdict]);
  }
  return { rows, failures, summary: 'Each attack alone.' };
};

const quickStorm: Way = ({ ground, bystanders, chosen, wishes: { seed } }) => {
  const left = [...chosen];
  return runStorm(ground, bystanders, {
    seed,
    lanes: QUICK_LANES,
    settleMs: QUICK_SETTLE_MS,
    report: say,
    next: () => {
      const attack = left.shift();
      return attack && { attack, scale: QUICK_SCALE };
    },
  });
};

const longStorm: Way = ({ ground, bystanders, chosen, wishes: { seed, minutes } }) => {
  const end = performance.now() + minutes * 60_000;
  say(`a mix of all for ${minutes} minutes`);
  return runStorm(ground, bystanders, {
    seed,
    lanes: STORM_LANES,
    settleMs: SETTLE_MS,
    report: say,
    next: (chance) =>
      performance.now() < end ? { attack: chance.pick(chosen), scale: (chance.below(10) + 1) / 20 } : undefined,
  });
};

async function runStorm(ground: Ground, bystanders: Bystanders, plan: Parameters<typeof storm>[2]): Promise<Result> {
  const report = await storm(ground, bystanders, plan);
  const summary = `Bystanders: ${describe({ ...report, findings: [] })}. Held after: ${report.held.text}.`;
  return { rows: stormRows(report), failures: report.incidents, summary };
}

function stormRows({ tried }: StormReport): string[][] {
  const rows = [...tried.values()].map(({ attack, times, untried, sent, findings }) => [
    attack.name,
    attack.role,
    untried === 0 ? String(times) : `${times - untried} of ${times}`,
    sent,
    findings.size === 0 ? 'held' : `NOTICED: ${[...findings].slice(0, 2).join('; ').slice(0, 160)}`,
  ]);
  return [STORM_HEADINGS, ...rows];
}
