import { PlainFailure } from '../../bootstrap/failure.mjs';

/** A table as a benchmark printed it; the first column names the rows. */
export interface PrintedTable {
  name: string;
  columns: string[];
  rows: string[][];
}

/** A printed table with the circumstances of its run. */
export interface MeasuredTable extends PrintedTable {
  /** The command line that measures it again. */
  command: string;
  /** `YYYY-MM-DD`. */
  measured: string;
  /** Node's version, processors, load: what a reader needs to judge the figures by. */
  machine: string;
  /** False for figures from before benchmarks wrote their own tables. */
  written: boolean;
}

interface Comparison {
  /** What is compared, with its unit. */
  what: string;
  table: string;
  column: string;
}

export interface Verdict extends Comparison {
  better: 'less' | 'more';
  /** The row of ours, and the rows of the programs beside it. */
  ours: string;
  peers: string[];
}

export interface Target extends Comparison {
  row: string;
  /** One of the two. */
  most?: number;
  least?: number;
}

/** `docs/benchmarks/<subject>.json`. */
export interface Subject {
  title: string;
  tables: MeasuredTable[];
  verdicts: Verdict[];
  targets: Target[];
}

/** Closer to each other than this share, two figures count as level. */
const LEVEL = 0.03;

export const VERDICT_HEADINGS = ['what', 'us', 'best peer', 'ratio', 'verdict'];
export const TARGET_HEADINGS = ['what', 'us', 'target', 'verdict'];

/** Rows of {@link VERDICT_HEADINGS}: the figure of ours beside that of the best peer, linked to the page of the subject. */
export function verdictRows(page: string, subject: Subject): string[][] {
  return subject.verdicts.map((verdict) => {
    const { what, table, column, ours, peers, better } = verdict;
    const figures = [ours, ...peers].map((row) => {
      const { text, values } = cellOf(subject, table, row, column);
      return { row, text, value: values[0] ?? Number.NaN };
    });
    const [own, ...others] = figures;
    const sign = better === 'less' ? 1 : -1;
    const [best] = others.toSorted((a, b) => sign * (a.value - b.value));
    if (own === undefined || best === undefined) throw new Error(`the verdict "${what}" names no peer.`);
    const ratio = own.value / best.value;
    return [
      `[${what}](benchmarks/${page}.md)`,
      own.text,
      `${best.text} (${best.row})`,
      ratio.toFixed(2),
      outcome(better === 'less' ? ratio : 1 / ratio),
    ];
  });
}

function outcome(cost: number): string {
  if (Math.abs(cost - 1) <= LEVEL) return 'level';
  return cost < 1 ? 'won' : '**lost**';
}

/** Rows of {@link TARGET_HEADINGS}; of several runs in a cell the worst one counts. */
export function targetRows(page: string, subject: Subject): string[][] {
  return subject.targets.map(({ what, table, column, row, most, least }) => {
    const { text, values } = cellOf(subject, table, row, column);
    const isMet =
      (most === undefined || Math.max(...values) <= most) && (least === undefined || Math.min(...values) >= least);
    const target =
      most === undefined ? `at least ${least?.toLocaleString('en-US')}` : `at most ${most.toLocaleString('en-US')}`;
    return [`[${what}](benchmarks/${page}.md)`, text, target, isMet ? 'met' : '**missed**'];
  });
}

const NUMBER = /\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g;

/** @throws PlainFailure where the table has no such row or column. Error where it has the column twice, or the cell has no number */
function cellOf(subject: Subject, table: string, row: string, column: string): { text: string; values: number[] } {
  const found = subject.tables.find(({ name }) => name === table);
  const place = `"${table}", "${row}", "${column}"`;
  const index = found?.columns.indexOf(column) ?? -1;
  if (index !== found?.columns.lastIndexOf(column)) throw new Error(`${place}: two columns have this name.`);
  const text = found?.rows.find(([name]) => name === row)?.[index];
  if (text === undefined || index < 0) {
    const advice = ['A run with --write has to measure every program that its tables compare.'];
    throw new PlainFailure(`there is no figure ${place}.`, { advice });
  }
  const values = (text.match(NUMBER) ?? []).map((number) => Number(number.replaceAll(',', '')));
  if (values.length === 0) throw new Error(`${place} is "${text}", which has no number.`);
  return { text, values };
}

/** What a reader needs to know below a table. */
export function describeTable({ command, measured, machine, written }: MeasuredTable): string {
  const since = written ? '' : ' Copied from an earlier page: this benchmark has not written the table yet.';
  return `\`${command}\`, ${measured}, ${machine}.${since}`;
}

/**
 * The subject with the tables that were just measured in place of the former ones of the same name. A table is replaced as a
 * whole, since rows of different hours do not compare.
 * @throws PlainFailure where a verdict or target would lose its figures: the run was a partial one
 */
export function withTables(subject: Subject, tables: readonly MeasuredTable[]): Subject {
  const fresh = new Map(tables.map((table) => [table.name, table]));
  const kept = subject.tables.map((table) => fresh.get(table.name) ?? table);
  const known = new Set(kept.map(({ name }) => name));
  const next = { ...subject, tables: [...kept, ...tables.filter(({ name }) => !known.has(name))] };
  verdictRows('', next);
  targetRows('', next);
  return next;
}
