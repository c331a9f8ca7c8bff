import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { PlainFailure } from '../../bootstrap/failure.mjs';

/** Date, Node's version and load of this moment, for the line under a table. */
export function describeRun(): string {
  const load = loadavg()[0]?.toFixed(1) ?? '?';
  return `Run on ${new Date().toISOString().slice(0, 10)} with Node ${process.version}, at a load of ${load}.`;
}

/**
 * For each name the row that is new, or the one that the page has; names of neither are left out. A row is that of a name
 * when its first cell begins with it.
 */
export function mergeRows(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  former: readonly (readonly string[])[],
): (readonly string[])[] {
  return names.flatMap((name) => {
    const row = [...rows, ...former].find(([first = '']) => first === name || first.startsWith(`${name} (`));
    return row === undefined ? [] : [row];
  });
}

/** Puts a table and what was run between the marks of that name in a page. @throws PlainFailure where it has none */
export function writeTable(page: string, name: string, rows: readonly (readonly string[])[], run: string): void {
  const text = readFileSync(page, 'utf8');
  const { start, end } = placeOf(page, name, text);
  const [headings = [], ...rest] = rows;
  const lines = [headings, headings.map(() => '---'), ...rest].map((row) => `| ${row.map(cell).join(' | ')} |`);
  writeFileSync(page, `${text.slice(0, start)}\n\n${lines.join('\n')}\n\n${run}\n\n${text.slice(end)}`);
}

/** The rows that are there now, headings left out. @throws PlainFailure where the page has no place for them */
export function readTable(page: string, name: string): string[][] {
  const text = readFileSync(page, 'utf8');
  const { start, end } = placeOf(page, name, text);
  const lines = text.slice(start, end).split('\n');
  const rows = lines.filter((line) => line.startsWith('| ') && line.endsWith(' |')).slice(2);
  return rows.map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((part) => part.trim().replaceAll('\\|', '|')),
  );
}

function placeOf(page: string, name: string, text: string): { start: number; end: number } {
  const [from, to] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [start, end] = [text.indexOf(from) + from.length, text.indexOf(to)];
  if (start < from.length || end < start) throw new PlainFailure(`${page} has no place for the table "${name}".`);
  return { start, end };
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
