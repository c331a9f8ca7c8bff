import { bilingual, BilingualError, type Bilingual } from '@gatehouse/i18n';
/**
 * A backup is one gzip file (`gunzip -c` reads it): a line of JSON, the header, then the rows of each table in the
 * header's order, in PostgreSQL's COPY text format, each exactly as many bytes as the header says.
 */
export const BACKUP_FORMAT = 'gatehouse-backup';
/** Version 1 had neither partitions nor keys. */
export const BACKUP_VERSION = 2;
const READABLE_VERSIONS: readonly unknown[] = [1, BACKUP_VERSION];

export interface BackupTable {
  schema: string;
  name: string;
  columns: string[];
  rows: number;
  bytes: number;
  /** SHA-256 of the table's COPY text, hex. */
  sha256: string;
}

export interface BackupPartition {
  schema: string;
  name: string;
  /** Name of the parent table, in the same schema. */
  parent: string;
  /** As PostgreSQL writes it in UTC: `FOR VALUES FROM ('2026-01-01 00:00:00+00') TO (…)` or `DEFAULT`. */
  bound: string;
}

export interface BackupSequence {
  schema: string;
  name: string;
  /** Text, because a sequence may exceed 2^53. */
  value: string;
  called: boolean;
}

export interface BackupHeader {
  format: typeof BACKUP_FORMAT;
  version: number;
  createdAt: string;
  schemas: { name: string; migrations: string[] }[];
  /** Parents before the tables that refer to them. */
  tables: BackupTable[];
  partitions: BackupPartition[];
  sequences: BackupSequence[];
  /** Fingerprints of the secret keys with which values may be sealed; empty: not known. */
  keys: string[];
  /** Qualified names of existing tables that were not saved. */
  leftOut: string[];
}

/** A problem of a backup or its target, in one line for people. */
export class BackupError extends BilingualError {
  override readonly name = 'BackupError';

  constructor(english: string, chinese: string, options?: ErrorOptions) {
    super(bilingual(english, chinese), options);
  }
}

/** A file that is no backup, or a damaged one. */
export function unusable(file: string, reason: Bilingual, cause?: unknown): BackupError {
  return new BackupError(
    `${file} is not a usable backup: ${reason.en}.`,
    `${file} 不是可用的备份：${reason['zh-CN']}。`,
    { cause },
  );
}

export const NO_HEADER = bilingual('it has no header', '没有文件头');

const VALUE = String.raw`(?:'[^'\\]*'|-?\d+(?:\.\d+)?|MINVALUE|MAXVALUE|NULL|true|false)`;
const VALUES = String.raw`\(${VALUE}(?:, ${VALUE})*\)`;
const BOUND = new RegExp(
  String.raw`^(?:DEFAULT|FOR VALUES (?:FROM ${VALUES} TO ${VALUES}|IN ${VALUES}|WITH \(modulus \d+, remainder \d+\)))$`,
);

/** A bound becomes a part of a statement when it is restored, so it must not contain anything else. */
export function isPartitionBound(text: string): boolean {
  return BOUND.test(text);
}

/** Reads the first line of a backup. @throws BackupError, whose message names `file`. */
export function parseBackupHeader(text: string, file: string): BackupHeader {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw unusable(file, NO_HEADER, cause);
  }
  if (!isRecord(header) || header['format'] !== BACKUP_FORMAT) {
    throw unusable(file, bilingual('it is not a backup of Gatehouse', '不是 Gatehouse 的备份'));
  }
  if (!READABLE_VERSIONS.includes(header['version'])) {
    throw new BackupError(
      `${file} has the format ${String(header['version'])}, and this Gatehouse reads ${READABLE_VERSIONS.join(' and ')}: ` +
        'restore it with the version that made it.',
      `${file} 的格式版本是 ${String(header['version'])}，当前 Gatehouse 只能读取 ${READABLE_VERSIONS.join(' 和 ')}：` +
        '请用创建该备份的版本恢复。',
    );
  }
  const complete = { partitions: [], keys: [], leftOut: [], ...header };
  const wrong = Object.entries(SHAPE).find(([name, fits]) => !fits((complete as Record<string, unknown>)[name]));
  if (wrong !== undefined) {
    const [field] = wrong;
    throw unusable(file, bilingual(`"${field}" of its header cannot be read`, `无法读取文件头中的“${field}”`));
  }
  return complete as unknown as BackupHeader;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const recordOf =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

const SHAPE: Readonly<Record<string, Check>> = {
  createdAt: isText,
  schemas: listOf(recordOf({ name: isText, migrations: listOf(isText) })),
  tables: listOf(
    recordOf({
      schema: isText,
      name: isText,
      columns: listOf(isText),
      rows: isCount,
      bytes: isCount,
      sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
    }),
  ),
  partitions: listOf(
    recordOf({
      schema: isText,
      name: isText,
      parent: isText,
      bound: (value) => typeof value === 'string' && isPartitionBound(value),
    }),
  ),
  sequences: listOf(
    recordOf({
      schema: isText,
      name: isText,
      value: (value) => typeof value === 'string' && /^-?\d{1,19}$/.test(value),
      called: (value) => typeof value === 'boolean',
    }),
  ),
  keys: listOf(isText),
  leftOut: listOf(isText),
};
