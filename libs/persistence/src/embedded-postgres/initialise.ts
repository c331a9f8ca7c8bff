import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import { keepOwner } from '@gatehouse/net';
import type { PostgresBinaries } from './binaries.js';
import { describeCluster, type ClusterHome } from './cluster-home.js';
import { EmbeddedPostgresError } from './errors.js';
import { underAccount } from './privileged-command.js';

/** Written last into a new data directory: without it, initdb was interrupted. */
export const COMPLETE_MARKER = 'gatehouse-initialised';
const DRAFT_PREFIX = 'initialising-';

/** Whether the home has a complete data directory. @throws a clear error for one that must not be touched. */
export function hasDataDirectory(home: ClusterHome, binaries: PostgresBinaries): boolean {
  if (!existsSync(home.data) || readdirSync(home.data).length === 0) return false;
  if (!existsSync(join(home.data, COMPLETE_MARKER))) {
    // Without a control file it never contained a database, so nothing can be lost.
    if (!existsSync(join(home.data, 'global', 'pg_control'))) return false;
    throw new EmbeddedPostgresError(
      'DATA_DIRECTORY_UNKNOWN',
      bilingual(
        `${describeCluster(home)} holds a database that Gatehouse did not finish creating: move it away and start again.`,
        `${describeCluster(home)} 中有未创建完成的数据库：请将其移走后重新启动。`,
      ),
    );
  }
  checkVersion(home, binaries);
  return true;
}

function checkVersion(home: ClusterHome, binaries: PostgresBinaries): void {
  const file = join(home.data, 'PG_VERSION');
  if (!existsSync(file) || !existsSync(join(home.data, 'global', 'pg_control'))) {
    throw new EmbeddedPostgresError(
      'DATA_DIRECTORY_DAMAGED',
      bilingual(
        `${describeCluster(home)} has lost files of the database: move it away, start again and run npm run restore -- FILE.`,
        `${describeCluster(home)} 缺少数据库文件：请将其移走，重新启动，然后运行 npm run restore -- FILE。`,
      ),
    );
  }
  const version = readFileSync(file, 'utf8').trim();
  if (Number.parseInt(version, 10) === binaries.major) return;
  throw new EmbeddedPostgresError(
    'WRONG_MAJOR_VERSION',
    bilingual(
      `${describeCluster(home)} was written by PostgreSQL ${version}, and this Gatehouse runs ${binaries.major}: ` +
        'with the version used before run npm run backup -- FILE, move the folder away, ' +
        'then start this version and run npm run restore -- FILE.',
      `${describeCluster(home)} 由 PostgreSQL ${version} 写入，而此版本的 Gatehouse 使用 ${binaries.major}：` +
        '请用之前的版本运行 npm run backup -- FILE，移走该目录，' +
        '再启动此版本并运行 npm run restore -- FILE。',
    ),
  );
}

/**
 * Creates the data directory under a temporary name and renames it when it is complete, so that an interruption leaves
 * either nothing or a draft that the next start deletes.
 */
export async function createDataDirectory(
  home: ClusterHome,
  binaries: PostgresBinaries,
  durable: boolean,
): Promise<void> {
  const { account } = home;
  removeDrafts(home);
  rmSync(home.data, { recursive: true, force: true });
  const draft = mkdtempSync(join(home.record.cluster, DRAFT_PREFIX));
  const passwordFile = join(home.record.cluster, `${DRAFT_PREFIX}password`);
  writeFileSync(passwordFile, `${home.record.password}\n`, { mode: 0o600 });
  if (account !== undefined) {
    chownSync(draft, account.uid, account.gid);
    chownSync(passwordFile, account.uid, account.gid);
  }
  await runInitdb(home, [
    `--pgdata=${draft}`,
    `--username=${home.record.user}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    ...(durable ? [] : forTests(binaries)),
  ]);
  rmSync(passwordFile, { force: true });
  writeFileSync(join(draft, COMPLETE_MARKER), `${new Date().toISOString()}\n`);
  keepOwner(join(draft, COMPLETE_MARKER));
  renameSync(draft, home.data);
}

/**
 * Nothing has to reach the disk. Tests open thousands of connections, and hashing the password four thousand times took half of
 * what each of them costs: the password is random, and goes away with the data. PostgreSQL 15 and older know no other number.
 */
function forTests({ major }: PostgresBinaries): string[] {
  return ['--no-sync', ...(major >= 16 ? ['--set=scram_iterations=1'] : [])];
}

function removeDrafts(home: ClusterHome): void {
  for (const name of readdirSync(home.record.cluster)) {
    if (name.startsWith(DRAFT_PREFIX)) rmSync(join(home.record.cluster, name), { recursive: true, force: true });
  }
}

async function runInitdb(home: ClusterHome, args: string[]): Promise<void> {
  const {
    command,
    args: full,
    ...identity
  } = underAccount(home.account, 'KILL', join(home.native, 'bin', 'initdb'), args);
  const child = spawn(command, full, { ...identity, cwd: home.record.cluster, stdio: ['ignore', 'ignore', 'pipe'] });
  let report = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    report = (report + text).slice(-4_000);
  });
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
  });
  if (failure === undefined) return;
  const lines = report.split('\n').filter((line) => /error|fatal|could not|cannot/i.test(line));
  throw new EmbeddedPostgresError(
    'INITDB_FAILED',
    bilingual(
      `PostgreSQL could not create its data directory in ${home.record.cluster}: ${lines.join(' ').trim() || failure}`,
      `PostgreSQL 无法在 ${home.record.cluster} 中创建数据目录：${lines.join(' ').trim() || failure}`,
    ),
  );
}
