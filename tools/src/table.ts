import { terminalWidth } from '@gatehouse/i18n';

/** Lays rows out in columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => terminalWidth(row[i] ?? ''))));
  const line = (row: readonly string[]) =>
    `${indent}${row.map((cell, i) => cell + ' '.repeat(Math.max(0, (widths[i] ?? 0) - terminalWidth(cell)))).join('  ')}`.trimEnd();
  const rule = `${indent}${widths.map((width) => '-'.repeat(width)).join('  ')}`;
  return rows.flatMap((row, i) => (i === 0 ? [line(row), rule] : [line(row)])).join('\n');
}
