import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import { table } from '../table.js';
import { footprintCommand } from './footprint.js';
import { DOCS, writeResults } from './pages.js';
import type { PrintedTable } from './results.js';

const FOLDER = join(ROOT, 'test', 'bench');

/** The scripts of test/bench (the modules they share export something; benchmarks do not), with their first sentence. */
export function scripts(): Map<string, string> {
  const found = new Map<string, string>();
  if (!existsSync(FOLDER)) return found;
  for (const name of readdirSync(FOLDER).sort()) {
    if (!name.endsWith('.mjs')) continue;
    const text = readFileSync(join(FOLDER, name), 'utf8');
    if (/^export /m.test(text)) continue;
    found.set(name.replace(/\.mjs$/, ''), firstSentence(text));
  }
  return found;
}

/** The first sentence of the first comment, without the line that says how the script is run. */
function firstSentence(text: string): string {
  const lines = text.split('\n');
  const rest = lines.slice(lines.findIndex((line) => line.startsWith('//')));
  const comment = rest
    .slice(
      0,
      rest.findIndex((line) => !line.startsWith('//')),
    )
    .map((line) => line.slice(3));
  const paragraphs = comment.join('\n').split(/^(?:npm run .*)?$/m);
  const words = (paragraphs.find((paragraph) => paragraph.trim() !== '') ?? '').trim().replaceAll('\n', ' ');
  return words.replace(/\.(?: .*)?$/, '');
}

/** Runs the script; what it prints as a table is in `tables` afterwards, a JSON object a line. */
function runScript(name: string, args: string[], tables: string): Promise<number> {
  const peers = process.env['GATEHOUSE_PEERS_BIN'] ?? join(OWN, 'peers', 'bin');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', join(FOLDER, `${name}.mjs`), ...args], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, GATEHOUSE_PEERS_BIN: peers, GATEHOUSE_BENCH_TABLES: tables },
    });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    process.on('SIGINT', forward).on('SIGTERM', forward);
    child.once('error', reject);
    child.once('exit', (code) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      resolve(code ?? 1);
    });
  });
}

/** Runs a benchmark; with `--write` its tables go into `docs`. Resolves with its exit code. */
export async function measure(name: string, args: string[], docs = DOCS): Promise<number> {
  const rest = args.filter((word) => word !== '--write');
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-tables-'));
  const file = join(folder, 'tables');
  const printed: PrintedTable[] = [];
  try {
    const code =
      name === 'footprint' ? await footprintCommand((table) => printed.push(table)) : await runScript(name, rest, file);
    if (existsSync(file)) {
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      printed.push(...lines.map((line) => JSON.parse(line) as PrintedTable));
    }
    if (rest.length < args.length) await keep([name, ...rest], printed, docs);
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A benchmark that misses its targets exits with 1 and is kept as well; one that failed has printed no table. */
async function keep([name = '', ...args]: string[], printed: readonly PrintedTable[], docs: string): Promise<void> {
  if (printed.length === 0) throw new PlainFailure(`the benchmark "${name}" printed no table: nothing was written.`);
  const run = {
    command: ['npm run bench --', name, ...args].join(' '),
    measured: new Date().toISOString().slice(0, 10),
    machine: `Node ${process.versions.node}, ${cpus().length} cores, load average ${loadavg()[0]?.toFixed(1)} at the end`,
    written: true,
  };
  await writeResults(
    name,
    printed.map((table) => ({ ...table, ...run })),
    docs,
  );
  process.stdout.write(`Written to ${docs}: benchmarks/${name}.json, its page and benchmarks.md.\n`);
}

/** `npm run bench [-- NAME [--write]]`: runs one, or lists what there is. */
export async function benchCommand([name, ...args]: string[]): Promise<number> {
  const known = scripts().set('footprint', 'memory of the idle platform, process by process');
  if (name !== undefined && known.has(name)) return measure(name, args);
  const list = table([['name', 'measures'], ...[...known].toSorted(([a], [b]) => a.localeCompare(b))]);
  if (name !== undefined) throw new PlainFailure(`there is no benchmark "${name}".`, { advice: list.split('\n') });
  process.stdout.write(
    `${list}\n\nnpm run bench -- NAME runs one; with --write its tables go into docs/benchmarks/NAME.md.\n`,
  );
  return 0;
}
