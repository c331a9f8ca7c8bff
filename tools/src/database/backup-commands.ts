import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  BackupError,
  backupDatabase,
  checkBackup,
  noteRestore,
  restoreDatabase,
  type CheckedBackup,
  type ReplacedRows,
} from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { localized, localizedText } from '../../bootstrap/language.mjs';
import { BackupFolder } from '../backups/backup-folder.js';
import { BackupSchedule } from '../backups/backup-schedule.js';
import type { BackupSettings } from '../backups/backup-settings.js';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { watchForStop } from '../supervisor/stop-request.js';
import { count, progressLines } from './progress.js';
import { rehearseRestore } from './rehearse.js';
import { secretKeysOf } from './secret-keys.js';
import { loadStoredData } from './stored-data.js';
import { withDatabase } from './with-database.js';

const KEEP_THE_KEY = localized(
  'Keep secret.key of the home (or GATEHOUSE_SECRET_KEY) with it, in another place: without it nothing in it can be used.',
  '请另行妥善保存数据目录中的 secret.key（或 GATEHOUSE_SECRET_KEY）：没有它，备份无法使用。',
);

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** npm runs scripts in the repository; a relative file is meant where the person typed the command. */
export function whereTyped(file: string): string {
  return resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
}

/** One file and the given switches. @throws PlainFailure for anything else. */
function readArguments<Name extends string>(args: string[], command: string, switches: readonly Name[]) {
  const options = Object.fromEntries(switches.map((name) => [name, { type: 'boolean' as const }]));
  const usage = `npm run ${command} -- FILE${switches.map((name) => ` [--${name}]`).join('')}`;
  let parsed: { positionals: string[]; values: Record<string, unknown> };
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (cause) {
    throw new PlainFailure((cause as Error).message, { advice: [usage], cause });
  }
  const [file, ...others] = parsed.positionals;
  if (others.length > 0) throw new PlainFailure(localized('name one file.', '请只指定一个文件。'), { advice: [usage] });
  const given = (name: Name): boolean => parsed.values[name] === true;
  return { file: file === undefined ? undefined : whereTyped(file), given, usage };
}

const WORK = { backup: '备份', restore: '恢复', rehearsal: '演练' } as const;

/** BackupError and the database's own refusals are one line each for the person who typed the command. */
export async function plainly<T>(what: keyof typeof WORK, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof PlainFailure) throw cause;
    if (cause instanceof BackupError) throw new PlainFailure(localizedText(cause.text), { cause });
    if (cause instanceof Error && 'code' in cause) {
      throw new PlainFailure(localized(`the ${what} failed: ${cause.message}`, `${WORK[what]}失败：${cause.message}`), {
        cause,
      });
    }
    throw cause;
  }
}

/**
 * `npm run backup -- FILE [--without-logs]`, or without a file `--scheduled`: as BACKUP_DIR and BACKUP_EVERY say, until it is
 * stopped; or `--is-recent`: whether the newest of BACKUP_DIR is, for monitoring.
 */
export async function backupCommand(args: string[]): Promise<number> {
  const { file, given, usage } = readArguments(args, 'backup', ['without-logs', 'scheduled', 'is-recent']);
  if (given('scheduled')) return scheduledBackups(given('without-logs'));
  if (given('is-recent')) return isRecent();
  if (file === undefined) {
    throw new PlainFailure(localized('name a file for the backup.', '请指定备份文件。'), { advice: [usage] });
  }
  const { home } = readPlatformSettings(process.env);
  const keys = secretKeysOf(process.env, home);
  const options = { keys, withoutLogs: given('without-logs'), onProgress: progressLines(say) };
  const header = await plainly(
    'backup',
    withDatabase(process.env, { mustExist: true }, (url) => backupDatabase(url, file, options)),
  );
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  const tables = header.tables.length;
  print(
    localized(
      `Saved ${count(rows)} rows of ${tables} tables to ${file}`,
      `已将 ${tables} 张表的 ${count(rows)} 行保存到 ${file}`,
    ),
  );
  const leftOut = header.leftOut.join(', ');
  if (leftOut !== '') print(localized(`Left out: ${leftOut}`, `未包含：${leftOut}`));
  print(KEEP_THE_KEY);
  if (keys.length > 0) return 0;
  say(
    localized(
      `There is no secret key in ${home}: a restore of this backup cannot check its key.`,
      `${home} 中没有密钥：恢复此备份时无法核对密钥。`,
    ),
  );
  return 0;
}

async function isRecent(): Promise<number> {
  const backups = requireFolder(readPlatformSettings(process.env).backups);
  const folder = new BackupFolder(backups.folder);
  if (await folder.isRecent(backups.everyMs, new Date())) return 0;
  const [newest] = await folder.list();
  say(
    newest
      ? localized(
          `The newest backup is of ${newest.at.toISOString()}.`,
          `最新的备份创建于 ${newest.at.toISOString()}。`,
        )
      : noBackupIn(backups.folder),
  );
  return 1;
}

function noBackupIn(folder: string): string {
  return localized(`There is no backup in ${folder}.`, `${folder} 中没有备份。`);
}

function requireFolder(backups: BackupSettings | undefined): BackupSettings {
  if (backups !== undefined) return backups;
  throw new PlainFailure(
    localized('BACKUP_DIR, the folder for the backups, is not set.', '没有设置备份目录 BACKUP_DIR。'),
  );
}

/** The way to scheduled backups where no `npm start` runs: beside containers, for a database of its own. */
async function scheduledBackups(withoutLogs: boolean): Promise<number> {
  const { home, backups: wanted } = readPlatformSettings(process.env);
  const backups = requireFolder(wanted);
  const keys = secretKeysOf(process.env, home);
  const write = async (file: string): Promise<void> => {
    const options = { keys, withoutLogs };
    const work = withDatabase(process.env, { mustExist: true }, (url) => backupDatabase(url, file, options));
    await plainly('backup', work);
    say(localized(`Saved ${file}`, `已保存 ${file}`));
  };
  const stop = watchForStop();
  const schedule = new BackupSchedule({ settings: backups, write, notify: say });
  await schedule.start();
  const minutes = count(backups.everyMs / 60_000);
  say(
    localized(
      `Backups go to ${backups.folder}, every ${minutes} min; ${backups.keep} are kept.`,
      `每 ${minutes} 分钟备份到 ${backups.folder}，保留 ${backups.keep} 份。`,
    ),
  );
  const { exitCode } = await stop.received;
  await schedule.stop();
  return exitCode;
}

/** `npm run restore -- FILE [--force]`, or `--rehearse [FILE]`: into a database of its own, by default the newest of BACKUP_DIR. */
export async function restoreCommand(args: string[]): Promise<number> {
  const { file: named, given, usage } = readArguments(args, 'restore', ['force', 'rehearse']);
  const { home, backups } = readPlatformSettings(process.env);
  const file = named ?? (given('rehearse') ? await newestOf(backups) : undefined);
  if (file === undefined) {
    throw new PlainFailure(localized('name the backup to restore.', '请指定要恢复的备份。'), { advice: [usage] });
  }
  if (!existsSync(file)) {
    throw new PlainFailure(localized(`there is no file ${file}.`, `文件 ${file} 不存在。`));
  }
  const onProgress = progressLines(say);
  const demands = { stored: await loadStoredData(), keys: secretKeysOf(process.env, home), onProgress };
  // All that can be known without a database, before one is opened or made.
  const backup = await plainly('restore', checkBackup(file, demands));
  describe(backup);
  if (given('rehearse')) return rehearse(backup);
  const options = { force: given('force'), onProgress, onReplace: announce };
  await plainly(
    'restore',
    withDatabase(process.env, { needsStopped: true }, (url) => restoreDatabase(url, backup, options)),
  );
  await noteRestore(home, { at: new Date().toISOString(), backupOf: backup.header.createdAt });
  const { createdAt } = backup.header;
  print(
    localized(
      `Restored. The services start with the data of ${createdAt}.`,
      `已恢复。服务将以 ${createdAt} 的数据启动。`,
    ),
  );
  return 0;
}

async function newestOf(backups: BackupSettings | undefined): Promise<string> {
  if (backups === undefined) {
    throw new PlainFailure(
      localized(
        'name a backup, or set BACKUP_DIR: its newest one is rehearsed.',
        '请指定备份，或设置 BACKUP_DIR 以演练其中最新的一份。',
      ),
    );
  }
  const [newest] = await new BackupFolder(backups.folder).list();
  if (newest === undefined) throw new PlainFailure(noBackupIn(backups.folder));
  return newest.file;
}

async function rehearse(backup: CheckedBackup): Promise<number> {
  const isSound = await plainly('rehearsal', rehearseRestore(backup, print, progressLines(say)));
  print(
    isSound
      ? localized(`${backup.file} can be restored.`, `${backup.file} 可以恢复。`)
      : localized(
          `${backup.file} can be restored, but its data do not hold together.`,
          `${backup.file} 可以恢复，但其中的数据不一致。`,
        ),
  );
  return isSound ? 0 : 1;
}

const KEY_NOT_CHECKED = localized(
  'It does not say which secret key it was made with, so that was not checked.',
  '备份未记录所用的密钥，因此未核对密钥。',
);

export function describe({ header, migrations }: CheckedBackup): void {
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  const tables = header.tables.length;
  say(
    localized(
      `The backup of ${header.createdAt} is whole: ${count(rows)} rows of ${tables} tables.`,
      `${header.createdAt} 的备份完整：${tables} 张表，${count(rows)} 行。`,
    ),
  );
  if (header.keys.length === 0) say(KEY_NOT_CHECKED);
  const leftOut = header.leftOut.join(', ');
  if (leftOut !== '') {
    say(
      localized(`It was made without ${leftOut}: these will be empty.`, `该备份不包含 ${leftOut}：恢复后这些表为空。`),
    );
  }
  if (migrations.length === 0) return;
  say(
    localized(
      `It is of an older version: ${migrations.length} migrations run after it is loaded.`,
      `该备份来自旧版本：载入后将执行 ${migrations.length} 个迁移。`,
    ),
  );
}

function announce(replaced: readonly ReplacedRows[]): void {
  for (const { service, rows } of replaced) {
    say(localized(`Replacing ${count(rows)} rows of ${service}.`, `将替换 ${service} 的 ${count(rows)} 行。`));
  }
}
