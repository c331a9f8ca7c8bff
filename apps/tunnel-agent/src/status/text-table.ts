import { terminalWidth } from '@gatehouse/i18n';

/** Rows with aligned columns, indented; the first one is the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => terminalWidth(row[column] ?? ''))),
  );
  const pad = (cell: string, column: number): string =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - terminalWidth(cell)));
  return rows
    .map((row) => `  ${row.map(pad).join('  ')}`.trimEnd())
    .join('\n')
    .concat('\n');
}
