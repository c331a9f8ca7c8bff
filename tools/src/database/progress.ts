import type { BackupProgress, ProgressHandler } from '@gatehouse/persistence';
import { localized } from '../../bootstrap/language.mjs';

const EVERY_MS = 2_000;
const DOING = {
  saving: localized('Saving', '正在保存'),
  checking: localized('Checking', '正在检查'),
  loading: localized('Loading', '正在载入'),
} as const;

/** A line now and then about what a backup or restore is at; short ones say nothing. */
export function progressLines(print: (line: string) => void, now: () => number = Date.now): ProgressHandler {
  let last = now();
  return ({ stage, table, rows, totalRows }: BackupProgress) => {
    if (now() - last < EVERY_MS) return;
    last = now();
    const of = totalRows === undefined ? '' : localized(` of ${count(totalRows)}`, ` / ${count(totalRows)}`);
    print(
      localized(
        `${DOING[stage]} ${table}: ${count(rows)}${of} rows`,
        `${DOING[stage]} ${table}：${count(rows)}${of} 行`,
      ),
    );
  };
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}
