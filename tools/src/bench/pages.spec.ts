import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { measure, scripts } from './bench-command.js';
import { DOCS, readSubject, subjectNames, writePage, writeResults, writeVerdicts } from './pages.js';
import type { MeasuredTable } from './results.js';

/** Figures of runs with other arguments than usual, which no run writes again. */
const ONCE_ONLY = ['tunnel-peers: connections-of-frp', 'tunnel-soak: resident'];

let docs: string;
beforeEach(() => {
  docs = mkdtempSync(join(tmpdir(), 'benchmark-pages-'));
  cpSync(join(DOCS, 'benchmarks'), join(docs, 'benchmarks'), { recursive: true });
  cpSync(join(DOCS, 'benchmarks.md'), join(docs, 'benchmarks.md'));
});
afterEach(() => rmSync(docs, { recursive: true, force: true }));

const text = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8');

/** The code of a benchmark, with its parts in the folder of the same name or of the name before the dash. */
function sourceOf(name: string): string {
  if (name === 'footprint') return text(ROOT, 'tools/src/bench/footprint.ts');
  const parts = globSync(`test/bench/{${name},${name.split('-')[0]}}/**/*.mjs`, { cwd: ROOT });
  return [`test/bench/${name}.mjs`, ...parts].map((file) => text(ROOT, file)).join('\n');
}

const table = (change: Partial<MeasuredTable>): MeasuredTable => ({
  name: 'formats',
  columns: ['format', 'CPU ms, median'],
  rows: [['links', '7']],
  command: 'npm run bench -- parse',
  measured: '2026-11-23',
  machine: 'Node 26',
  written: true,
  ...change,
});

describe('pages of benchmarks', () => {
  it('say what their figures say', () => {
    for (const name of subjectNames(docs)) writePage(name, docs);
    writeVerdicts(docs);
    const files = ['benchmarks.md', ...globSync('benchmarks/*.md', { cwd: DOCS })];
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) expect(text(docs, file), file).toBe(text(DOCS, file));
  });

  it('exist for every benchmark, with the tables that it prints', () => {
    expect(subjectNames()).toEqual(['footprint', ...scripts().keys()].toSorted());
    for (const name of subjectNames()) {
      const { tables, verdicts, targets } = readSubject(name);
      const source = sourceOf(name);
      const printed = tables.filter((one) => !ONCE_ONLY.includes(`${name}: ${one.name}`));
      for (const one of printed) expect(source, `${name}: ${one.name}`).toContain(`'${one.name}'`);
      for (const { column } of [...verdicts, ...targets]) expect(source, name).toContain(column.replace(/^\d+ /, ' '));
    }
  });

  it('are all linked from the first page', () => {
    const linked = [...text(DOCS, 'benchmarks.md').matchAll(/^- \[.+\]\(benchmarks\/(.+)\.md\)$/gm)].map(
      ([, name]) => name,
    );
    expect(linked).toEqual(subjectNames());
  });
});

describe('npm run bench -- NAME --write', () => {
  it('puts the tables of a run into the figures and the page', async () => {
    expect(await measure('parse', ['20', '--write'], docs)).toBe(0);
    const [written] = readSubject('parse', docs).tables;
    expect(written).toMatchObject({ name: 'formats', written: true, command: 'npm run bench -- parse 20' });
    expect(written?.rows.map(([format, nodes]) => [format, nodes])).toContainEqual(['links', '20']);
    expect(text(docs, 'benchmarks/parse.md')).toContain('| links | 20 | 0 |');
    expect(text(docs, 'benchmarks/parse.md')).not.toContain('Copied from');
  });

  it('leaves everything as it is without --write', async () => {
    expect(await measure('parse', ['20'], docs)).toBe(0);
    expect(text(docs, 'benchmarks/parse.md')).toBe(text(DOCS, 'benchmarks/parse.md'));
  });

  it('keeps verdicts true: they follow the figures, and a run that lacks one is not written', async () => {
    const relay = readSubject('relay', docs).tables[0];
    const rows = relay?.rows.map(([name = '', ...figures]) => [name, ...figures.map(() => '1')]) ?? [];
    await writeResults('relay', [table({ ...relay, rows })], docs);
    expect(text(docs, 'benchmarks.md')).toMatch(
      /relay of a direct flow, down.* \| 1 \| 1 \(v2ray .* \| 1\.00 \| level \|/,
    );
    const before = text(docs, 'benchmarks/relay.json');
    await expect(writeResults('relay', [table({ ...relay, rows: rows.slice(0, 1) })], docs)).rejects.toThrow(
      'there is no figure "relay", "gatehouse direct", "CPU s/GB down"',
    );
    expect(text(docs, 'benchmarks/relay.json')).toBe(before);
  });

  it('begins a page for a new benchmark', async () => {
    await writeResults('new', [table({})], docs);
    expect(text(docs, 'benchmarks/new.md')).toMatch(
      /^# new\n\n<!-- formats: begin -->[^]*\| links \| 7 \|[^]*<!-- formats: end -->\n$/,
    );
  });
});
