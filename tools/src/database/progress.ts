import type { BackupProgress, ProgressHandler } from '@gatehouse/persistence';

const EVERY_MS = 2_000;
const DOING = { saving: 'Saving', checking: 'Checking', loading: 'Loading' } as const;

/** A line now and then about what a backup or restore is at; short ones say nothing. */
export function progressLines(print: (line: string) => void, now: () => number = Date.now): ProgressHandler {
  let last = now();
  return ({ stage, table, rows, totalRows }: BackupProgress) => {
    if (now() - last < EVERY_MS) return;
    last = now();
    const of = totalRows === undefined ? '' : ` of ${count(totalRows)}`;
    print(`${DOING[stage]} ${table}: ${count(rows)}${of} rows`);
  };
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}
