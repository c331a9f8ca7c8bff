import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';

const PAGE = join(ROOT, 'docs/reliability.md');
const [FROM, TO] = ['<!-- replicas: begin -->', '<!-- replicas: end -->'];

/** Puts the tables of a run, each with its heading first, into docs/reliability.md. */
export function writeReplicaTables(...tables: readonly (readonly string[])[][]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = [page.indexOf(FROM) + FROM.length, page.indexOf(TO)];
  if (end < 0) throw new PlainFailure(`${PAGE} has no place for the tables.`);
  const texts = tables.filter((rows) => rows.length > 1).map(markdown);
  const load = loadavg()[0]?.toFixed(0);
  const run = `Run on ${new Date().toISOString().slice(0, 10)} with Node ${process.version}, at a load of ${load} on two cores.`;
  writeFileSync(PAGE, `${page.slice(0, start)}\n\n${[...texts, run].join('\n\n')}\n\n${page.slice(end)}`);
}

function markdown([heading = [], ...rows]: readonly (readonly string[])[]): string {
  return [heading, heading.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
