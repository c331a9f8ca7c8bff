import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { BackupError, backupDatabase, restoreDatabase } from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { SERVICES } from '../supervisor/service-list.js';
import { runningDatabaseUrl, withDatabase } from './with-database.js';

const run = promisify(execFile);
const MIGRATE_TIMEOUT_MS = 120_000;

/** `npm run db:url`: the bare connection string, for `psql "$(npm run --silent db:url)"`. */
export function databaseUrlCommand(): Promise<number> {
  process.stdout.write(`${runningDatabaseUrl(process.env)}\n`);
  return Promise.resolve(0);
}

/** npm runs scripts in the repository; a relative file is meant where the person typed the command. */
function fileArgument(args: string[], command: string): string {
  const files = args.filter((argument) => !argument.startsWith('--'));
  const [file] = files;
  if (file === undefined || files.length > 1) throw new PlainFailure(`name one file: npm run ${command} -- FILE`);
  return resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
}

/** BackupError and the database's own refusals are one line each for the person who typed the command. */
async function plainly<T>(what: string, work: Promise<T>): Promise<T> {
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

export async function backupCommand(args: string[]): Promise<number> {
  const file = fileArgument(args, 'backup');
  const header = await plainly(
    'the backup',
    withDatabase(process.env, { needsStopped: false }, (url) => backupDatabase(url, file)),
  );
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  process.stdout.write(`Saved ${rows} rows of ${header.tables.length} tables to ${file}\n`);
  process.stdout.write('Keep secret.key of the home with it: credentials inside are encrypted with that key.\n');
  return 0;
}

async function migrateAll(url: string): Promise<void> {
  const settings = readPlatformSettings(process.env);
  for (const { name } of SERVICES) {
    const script = join(ROOT, 'apps', name, 'dist', 'migrate.js');
    if (!existsSync(script)) continue;
    try {
      const env = serviceEnvironment(process.env, settings, url);
      await run(process.execPath, [script], { env, cwd: ROOT, timeout: MIGRATE_TIMEOUT_MS });
    } catch (cause) {
      const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
      throw new PlainFailure(`the schema of ${name} could not be prepared.`, { advice: output, cause });
    }
  }
}

export async function restoreCommand(args: string[]): Promise<number> {
  const file = fileArgument(args, 'restore');
  if (!existsSync(file)) throw new PlainFailure(`there is no file ${file}.`);
  const restore = async (url: string) => {
    await migrateAll(url);
    return restoreDatabase(url, file, { force: args.includes('--force') });
  };
  const header = await plainly('the restore', withDatabase(process.env, { needsStopped: true }, restore));
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  process.stdout.write(`Restored ${rows} rows of ${header.tables.length} tables, as saved at ${header.createdAt}\n`);
  return 0;
}
