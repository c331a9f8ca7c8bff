import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { findInPath } from '../peers/programs.js';
import { table } from '../table.js';
import { interruption } from '../trials/interruption.js';
import { makeHome } from '../trials/own-platform.js';
import { describeRun, writeTable } from '../trials/page-table.js';
import type { Shape } from './places.js';
import { buildPrevious } from './previous-build.js';
import { isClean, type Replacement } from './replace.js';
import { ScaleStage } from './scale-stage.js';

const PAGE = join(ROOT, 'docs/reliability.md');
const PEERS = join(OWN, 'peers', 'bin');
const THREE: Shape = { 'proxy-gateway': 3, 'resource-sharing': 3, 'tunnel-gateway': 3, kernel: 3, edge: 3 };
export const HEADINGS = [
  'replaced',
  'API requests',
  'visitors',
  'proxied flows',
  'open flows',
  'stopped in',
  'back after',
];

/**
 * `npm run rehearse:scale [-- --previous REF] [-- --write]`: three copies of every service, kernel and edge behind haproxy, under
 * load, and each process replaced, one after the other. With `--previous`, everything starts from the build of that commit and is
 * replaced by this one. Resolves with 1 when a request failed, a visitor was refused or a flow was cut.
 */
export const scaleCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { previous: { type: 'string' }, write: { type: 'boolean' } } });
  if (process.platform !== 'linux') throw new PlainFailure('npm run rehearse:scale needs Linux.');
  const path = `${PEERS}:${process.env['PATH'] ?? ''}`;
  const haproxy = findInPath('haproxy', { path, except: '' });
  if (haproxy === undefined) throw new PlainFailure('npm run rehearse:scale needs haproxy: npm run peers.');
  const redisProgram = findInPath('redis-server', { path, except: '' });
  const previous = values.previous === undefined ? undefined : await buildPrevious(values.previous, say);
  const { home, remove } = makeHome();
  const rows: Replacement[] = [];
  try {
    await using stage = await ScaleStage.open({ home, haproxy, redisProgram, shape: THREE, previous, say });
    await Promise.race([interruption(), replaceAll(stage, rows)]);
    for (const line of stage.failures) process.stdout.write(`${line}\n`);
  } finally {
    remove();
  }
  const cells = [HEADINGS, ...rows.map(rowOf)];
  process.stdout.write(`\n${table(cells)}\n`);
  if (values.write === true) writeTable(PAGE, previous === undefined ? 'scale' : 'upgrade', cells, describeRun());
  return rows.every(isClean) ? 0 : 1;
};

async function replaceAll(stage: ScaleStage, rows: Replacement[]): Promise<void> {
  for await (const row of replacements(stage)) {
    rows.push(row);
    say(rowOf(row).join(' | '));
    for (const line of [...row.cut.map((flow) => `cut: ${flow}`), ...row.problems]) say(`  ${line}`);
  }
}

async function* replacements(stage: ScaleStage): AsyncGenerator<Replacement> {
  yield* stage.replaceAll();
  yield* stage.replaceAgents();
}

export function rowOf({
  name,
  requests,
  visitors,
  proxied,
  flows,
  cut,
  stopSeconds,
  backSeconds,
}: Replacement): string[] {
  const tallies = [requests, visitors, proxied].map(({ done, failed }) => `${failed} of ${done} failed`);
  const seconds = [stopSeconds, backSeconds].map((value) => `${value.toFixed(1)} s`);
  return [name, ...tallies, `${cut.length} of ${flows} cut`, ...seconds];
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
