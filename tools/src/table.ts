/** Lays rows out in columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `${indent}${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd();
  const rule = `${indent}${widths.map((width) => '-'.repeat(width)).join('  ')}`;
  return rows.flatMap((row, i) => (i === 0 ? [line(row), rule] : [line(row)])).join('\n');
}
