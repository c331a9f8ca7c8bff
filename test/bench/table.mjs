import { appendFileSync } from 'node:fs';
import os from 'node:os';

/**
 * Prints rows as a table, numbers to the right; `columns` are `[heading, row => text]`. With `--write` the table takes the
 * place of the former one of that name in the benchmark's page (tools/src/bench).
 */
export function printTable(name, columns, rows) {
  const cells = [
    columns.map(([heading]) => heading),
    ...rows.map((row) => columns.map(([, text]) => String(text(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index].length)));
  const format = (line) =>
    line.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[index]))).join('  ');
  console.log(format(cells[0]));
  console.log(widths.map((width) => '─'.repeat(width)).join('  '));
  for (const line of cells.slice(1)) console.log(format(line));
  const [headings, ...lines] = cells;
  const file = process.env.GATEHOUSE_BENCH_TABLES;
  if (file) appendFileSync(file, `${JSON.stringify({ name, columns: headings, rows: lines })}\n`);
}

/** The mean of the two in the middle where their number is even. */
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The subjects of a round, in every other one the other way round: nobody is always the first. */
export function inTurn(subjects, round) {
  return round % 2 === 1 ? subjects : subjects.toReversed();
}

/** `1.234`, or a dash where there is nothing to show. */
export function figure(value, digits = 2) {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** The value that `share` of the values do not exceed. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? Number.NaN : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** How busy the machine is, to judge wall clock times by. */
export function loadLine() {
  return `load average ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} cores`;
}
