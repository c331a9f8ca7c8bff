import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import { table } from '../table.js';
import { footprintCommand } from './footprint.js';

const FOLDER = join(ROOT, 'test', 'bench');

/** The scripts of test/bench (the modules they share export something; benchmarks do not), with their first sentence. */
function scripts(): Map<string, string> {
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

/** Of the first comment, without the line that says how the script is run. */
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

function runScript(name: string, args: string[]): Promise<number> {
  const peers = process.env['GATEHOUSE_PEERS_BIN'] ?? join(OWN, 'peers', 'bin');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', join(FOLDER, `${name}.mjs`), ...args], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, GATEHOUSE_PEERS_BIN: peers },
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

/** `npm run bench [-- NAME]`: runs one, or lists what there is. */
export async function benchCommand([name, ...args]: string[]): Promise<number> {
  const known = scripts();
  if (name === 'footprint') return footprintCommand();
  if (name !== undefined && known.has(name)) return runScript(name, args);
  const rows = [['name', 'measures'], ['footprint', 'memory of the idle platform, process by process'], ...known];
  const list = table(rows);
  if (name !== undefined) throw new PlainFailure(`there is no benchmark "${name}".`, { advice: list.split('\n') });
  process.stdout.write(`${list}\n\nnpm run bench -- NAME runs one.\n`);
  return 0;
}
