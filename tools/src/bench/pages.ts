import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';
import { writeTable } from '../trials/page-table.js';
import { describeTable, targetRows, verdictRows, withTables } from './results.js';
import { TARGET_HEADINGS, VERDICT_HEADINGS, type MeasuredTable, type Subject } from './results.js';

/** The folder that holds `benchmarks.md`, and in `benchmarks/` a page and its figures for each benchmark. */
export const DOCS = join(ROOT, 'docs');

const figuresOf = (docs: string, name: string): string => join(docs, 'benchmarks', `${name}.json`);
const pageOf = (docs: string, name: string): string => join(docs, 'benchmarks', `${name}.md`);

export function subjectNames(docs = DOCS): string[] {
  const files = readdirSync(join(docs, 'benchmarks')).filter((file) => file.endsWith('.json'));
  return files.map((file) => basename(file, '.json')).toSorted();
}

export function readSubject(name: string, docs = DOCS): Subject {
  return JSON.parse(readFileSync(figuresOf(docs, name), 'utf8')) as Subject;
}

/** Keeps what a benchmark measured: in its figures, in its page, and in the verdicts of all. */
export async function writeResults(name: string, tables: readonly MeasuredTable[], docs = DOCS): Promise<void> {
  const { format, resolveConfig } = await import('prettier');
  const former = existsSync(figuresOf(docs, name)) ? readSubject(name, docs) : newSubject(name);
  const subject = withTables(former, tables);
  const options = { ...(await resolveConfig(figuresOf(DOCS, name))), parser: 'json' };
  writeFileSync(figuresOf(docs, name), await format(JSON.stringify(subject), options));
  writePage(name, docs);
  writeVerdicts(docs);
}

function newSubject(title: string): Subject {
  return { title, tables: [], verdicts: [], targets: [] };
}

/** Writes the tables of a subject into its page, which has the words around them. Tables without a place go to its end. */
export function writePage(name: string, docs = DOCS): void {
  const page = pageOf(docs, name);
  const { title, tables } = readSubject(name, docs);
  let text = existsSync(page) ? readFileSync(page, 'utf8') : `# ${title}\n`;
  for (const { name: table } of tables)
    if (!text.includes(`<!-- ${table}: begin -->`)) text += `\n<!-- ${table}: begin --><!-- ${table}: end -->\n`;
  writeFileSync(page, text);
  for (const table of tables) writeTable(page, table.name, [table.columns, ...table.rows], describeTable(table));
}

/** The two tables that `benchmarks.md` begins with. */
export function writeVerdicts(docs = DOCS): void {
  const subjects = subjectNames(docs).map((name) => ({ name, subject: readSubject(name, docs) }));
  const page = join(docs, 'benchmarks.md');
  const verdicts = subjects.flatMap(({ name, subject }) => verdictRows(name, subject));
  const targets = subjects.flatMap(({ name, subject }) => targetRows(name, subject));
  const count = (word: string, rows: string[][]): number => rows.filter((row) => row.at(-1)?.includes(word)).length;
  const lost = `${count('won', verdicts)} won, ${count('level', verdicts)} level, ${count('lost', verdicts)} lost.`;
  writeTable(page, 'verdicts', [VERDICT_HEADINGS, ...verdicts], lost);
  const missed = `${count('met', targets)} met, ${count('missed', targets)} missed.`;
  writeTable(page, 'targets', [TARGET_HEADINGS, ...targets], missed);
}
