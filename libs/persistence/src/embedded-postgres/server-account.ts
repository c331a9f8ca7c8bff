import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import { EmbeddedPostgresError } from './errors.js';

/** The system user that owns the data and runs the server. */
export interface ServerAccount {
  name: string;
  uid: number;
  gid: number;
}

const CANDIDATES = ['postgres', 'gatehouse'];

/**
 * The account to run under: none for an ordinary user (the server runs as yourself). PostgreSQL refuses root, so as
 * root it is `postgres`, or `gatehouse`, created when neither exists.
 * @throws NO_SYSTEM_USER
 */
export function chooseServerAccount(candidates: readonly string[] = CANDIDATES): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of candidates) {
    const account = lookUpAccount(name);
    if (account !== undefined) return account;
  }
  return createAccount(candidates.at(-1) ?? 'gatehouse');
}

function lookUpAccount(name: string): ServerAccount | undefined {
  const uid = idOf('-u', name);
  const gid = idOf('-g', name);
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { name, uid, gid };
}

function idOf(flag: '-u' | '-g', name: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout.trim()) : undefined;
}

function createAccount(name: string): ServerAccount {
  const attempts: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]],
    ['adduser', ['-S', '-D', '-H', name]],
  ];
  for (const [command, args] of attempts) {
    spawnSync(command, args, { stdio: 'ignore' });
    const account = lookUpAccount(name);
    if (account !== undefined) return account;
  }
  throw new EmbeddedPostgresError(
    'NO_SYSTEM_USER',
    bilingual(
      `PostgreSQL does not run as root and the system user "${name}" could not be created: ` +
        'create a user named postgres, start as an ordinary user, or set DATABASE_URL.',
      `PostgreSQL 不能以 root 身份运行，且无法创建系统用户“${name}”：` +
        '请创建名为 postgres 的用户，以普通用户启动，或设置 DATABASE_URL。',
    ),
  );
}

/** Whether the account can pass through every folder above `path` (mode bits; root's own folders are often 0700). */
export function canReach(path: string, account: ServerAccount): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { uid, gid, mode } = statSync(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
