import { resolve } from 'node:path';
import { localized } from '../../bootstrap/language.mjs';

type Environment = Readonly<Record<string, string | undefined>>;

/** When and where backups are written without being asked for. */
export interface BackupSettings {
  folder: string;
  everyMs: number;
  /** How many files stay. */
  keep: number;
}

export const BACKUP_VARIABLES = ['BACKUP_DIR', 'BACKUP_EVERY', 'BACKUP_KEEP'];

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const DEFAULT_EVERY_MS = 86_400_000;
const MAX_EVERY_MS = 31 * 86_400_000;
const DEFAULT_KEEP = 7;
const MAX_KEEP = 10_000;

/** Undefined without BACKUP_DIR. What is wrong goes to `problems`, one line each. */
export function readBackupSettings(env: Environment, problems: string[]): BackupSettings | undefined {
  const folder = env['BACKUP_DIR']?.trim() ?? '';
  const everyMs = readEvery(env['BACKUP_EVERY']?.trim() ?? '', problems);
  const keep = readKeep(env['BACKUP_KEEP']?.trim() ?? '', problems);
  if (folder !== '') return { folder: resolve(folder), everyMs, keep };
  const without = BACKUP_VARIABLES.find((name) => (env[name]?.trim() ?? '') !== '');
  if (without !== undefined) {
    problems.push(
      localized(
        `${without} is set and BACKUP_DIR, the folder for the backups, is not.`,
        `设置了 ${without}，但没有设置备份目录 BACKUP_DIR。`,
      ),
    );
  }
  return undefined;
}

function readEvery(text: string, problems: string[]): number {
  if (text === '') return DEFAULT_EVERY_MS;
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const every = Number(number) * (UNITS_MS[unit ?? ''] ?? Number.NaN);
  if (every > 0 && every <= MAX_EVERY_MS) return every;
  problems.push(
    localized(
      `BACKUP_EVERY=${text} is not a time between 1m and 31d, such as 24h.`,
      `BACKUP_EVERY=${text} 不是 1m 到 31d 之间的时间，例如 24h。`,
    ),
  );
  return DEFAULT_EVERY_MS;
}

function readKeep(text: string, problems: string[]): number {
  if (text === '') return DEFAULT_KEEP;
  const keep = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (keep >= 1 && keep <= MAX_KEEP) return keep;
  problems.push(
    localized(
      `BACKUP_KEEP=${text} is not a number from 1 to ${MAX_KEEP}.`,
      `BACKUP_KEEP=${text} 不是 1 到 ${MAX_KEEP} 的数字。`,
    ),
  );
  return DEFAULT_KEEP;
}
