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

const KEEP_THE_KEY =
  'Keep secret.key of the home (or GATEHOUSE_SECRET_KEY) with it, in another place: without it nothing in it can be used.';

function say(line: string): void {
  process.stderr.write(`${line}\n`);
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
  if (others.length > 0) throw new PlainFailure('name one file.', { advice: [usage] });
  const given = (name: Name): boolean => parsed.values[name] === true;
  return { file: file === undefined ? undefined : whereTyped(file), given, usage };
}

/** BackupError and the database's own refusals are one line each for the person who typed the command. */
export async function plainly<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof PlainFailure) throw cause;
    if (cause instanceof BackupError) throw new PlainFailure(cause.message, { cause });
    if (cause instanceof Error && 'code' in cause)
      throw new PlainFailure(`${what} failed: ${cause.message}`, { cause });
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
  if (file === undefined) throw new PlainFailure('name a file for the backup.', { advice: [usage] });
  const { home } = readPlatformSettings(process.env);
  const keys = secretKeysOf(process.env, home);
  const options = { keys, withoutLogs: given('without-logs'), onProgress: progressLines(say) };
  const header = await plainly(
    'the backup',
    withDatabase(process.env, { mustExist: true }, (url) => backupDatabase(url, file, options)),
  );
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  process.stdout.write(`Saved ${count(rows)} rows of ${header.tables.length} tables to ${file}\n`);
  if (header.leftOut.length > 0) process.stdout.write(`Left out: ${header.leftOut.join(', ')}\n`);
  process.stdout.write(`${KEEP_THE_KEY}\n`);
  if (keys.length === 0) say(`There is no secret key in ${home}: a restore of this backup cannot check its key.`);
  return 0;
}

async function isRecent(): Promise<number> {
  const backups = requireFolder(readPlatformSettings(process.env).backups);
  const folder = new BackupFolder(backups.folder);
  if (await folder.isRecent(backups.everyMs, new Date())) return 0;
  const [newest] = await folder.list();
  say(newest ? `The newest backup is of ${newest.at.toISOString()}.` : `There is no backup in ${backups.folder}.`);
  return 1;
}

function requireFolder(backups: BackupSettings | undefined): BackupSettings {
  if (backups !== undefined) return backups;
  throw new PlainFailure('BACKUP_DIR, the folder for the backups, is not set.');
}

/** The way to scheduled backups where no `npm start` runs: beside containers, for a database of its own. */
async function scheduledBackups(withoutLogs: boolean): Promise<number> {
  const { home, backups: wanted } = readPlatformSettings(process.env);
  const backups = requireFolder(wanted);
  const keys = secretKeysOf(process.env, home);
  const write = async (file: string): Promise<void> => {
    const options = { keys, withoutLogs };
    const work = withDatabase(process.env, { mustExist: true }, (url) => backupDatabase(url, file, options));
    await plainly('the backup', work);
    say(`Saved ${file}`);
  };
  const stop = watchForStop();
  const schedule = new BackupSchedule({ settings: backups, write, notify: say });
  await schedule.start();
  say(`Backups go to ${backups.folder}, every ${count(backups.everyMs / 60_000)} min; ${backups.keep} are kept.`);
  const { exitCode } = await stop.received;
  await schedule.stop();
  return exitCode;
}

/** `npm run restore -- FILE [--force]`, or `--rehearse [FILE]`: into a database of its own, by default the newest of BACKUP_DIR. */
export async function restoreCommand(args: string[]): Promise<number> {
  const { file: named, given, usage } = readArguments(args, 'restore', ['force', 'rehearse']);
  const { home, backups } = readPlatformSettings(process.env);
  const file = named ?? (given('rehearse') ? await newestOf(backups) : undefined);
  if (file === undefined) throw new PlainFailure('name the backup to restore.', { advice: [usage] });
  if (!existsSync(file)) throw new PlainFailure(`there is no file ${file}.`);
  const onProgress = progressLines(say);
  const demands = { stored: await loadStoredData(), keys: secretKeysOf(process.env, home), onProgress };
  // All that can be known without a database, before one is opened or made.
  const backup = await plainly('the restore', checkBackup(file, demands));
  describe(backup);
  if (given('rehearse')) return rehearse(backup);
  const options = { force: given('force'), onProgress, onReplace: announce };
  await plainly(
    'the restore',
    withDatabase(process.env, { needsStopped: true }, (url) => restoreDatabase(url, backup, options)),
  );
  await noteRestore(home, { at: new Date().toISOString(), backupOf: backup.header.createdAt });
  process.stdout.write(`Restored. The services start with the data of ${backup.header.createdAt}.\n`);
  return 0;
}

async function newestOf(backups: BackupSettings | undefined): Promise<string> {
  if (backups === undefined) throw new PlainFailure('name a backup, or set BACKUP_DIR: its newest one is rehearsed.');
  const [newest] = await new BackupFolder(backups.folder).list();
  if (newest === undefined) throw new PlainFailure(`there is no backup in ${backups.folder}.`);
  return newest.file;
}

async function rehearse(backup: CheckedBackup): Promise<number> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const isSound = await plainly('the rehearsal', rehearseRestore(backup, print, progressLines(say)));
  print(
    isSound ? `${backup.file} can be restored.` : `${backup.file} can be restored, but its data do not hold together.`,
  );
  return isSound ? 0 : 1;
}

export function describe({ header, migrations }: CheckedBackup): void {
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  say(`The backup of ${header.createdAt} is whole: ${count(rows)} rows of ${header.tables.length} tables.`);
  if (header.keys.length === 0) say('It does not say which secret key it was made with, so that was not checked.');
  if (header.leftOut.length > 0) say(`It was made without ${header.leftOut.join(', ')}: these will be empty.`);
  if (migrations.length > 0) say(`It is of an older version: ${migrations.length} migrations run after it is loaded.`);
}

function announce(replaced: readonly ReplacedRows[]): void {
  for (const { service, rows } of replaced) say(`Replacing ${count(rows)} rows of ${service}.`);
}
