import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { bilingual, type Bilingual } from '@gatehouse/i18n';
import { makePrivateFolder, writePrivate } from '@gatehouse/net';
import type { PostgresBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './errors.js';
import { canReach, type ServerAccount } from './server-account.js';

/** What `$GATEHOUSE_HOME/postgres.json` (mode 0600) keeps between starts. */
export interface ClusterRecord {
  /** Folder of the cluster; outside the home when the server's account cannot reach the home. */
  cluster: string;
  user: string;
  password: string;
  /** Port of the last start, used again if it is free. */
  port?: number;
  /** Set until the server is known to accept `password`. */
  passwordPending?: boolean;
  /** Process that started the server last; a server whose parent is another process is an orphan. */
  supervisorPid?: number;
}

/** Paths for one home. */
export interface ClusterHome {
  home: string;
  recordFile: string;
  record: ClusterRecord;
  /** `<cluster>/data` */
  data: string;
  /** Programs to run: those of the package, or a copy that the server's account can reach. */
  native: string;
  logFile: string;
  /** Who runs the server; undefined: this process's own user. */
  account: ServerAccount | undefined;
}

/** Folder for the databases of homes that the server's account cannot reach, and for a copy of the programs. */
export const SHARED_FOLDER = '/var/lib/gatehouse';

/** Inputs that determine the place of a cluster. */
export interface ClusterSurroundings {
  binaries: PostgresBinaries;
  /** Who is to run the server; undefined: this process's own user. */
  account: ServerAccount | undefined;
  sharedFolder: string;
  log: (text: Bilingual) => void;
}

const damaged = (file: string): Bilingual =>
  bilingual(
    `${file} is damaged: delete it and start again. The data is kept, and the database gets a new password.`,
    `${file} 已损坏：请删除它并重新启动。数据会保留，数据库会使用新密码。`,
  );
const unreadable = (file: string): Bilingual =>
  bilingual(
    `${file} cannot be read: start as the user that owns it, or set another GATEHOUSE_HOME.`,
    `无法读取 ${file}：请以其所有者的身份启动，或设置其他 GATEHOUSE_HOME。`,
  );

/** The record of a home, or undefined if no embedded PostgreSQL was ever started there. */
export function readClusterRecord(home: string): ClusterRecord | undefined {
  const file = join(home, 'postgres.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ClusterRecord;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const text = cause instanceof SyntaxError ? damaged(file) : unreadable(file);
    throw new EmbeddedPostgresError('HOME_UNUSABLE', text, { cause });
  }
}

/** Writes the record so that a reader sees either the old or the new one, never a part. */
export function writeClusterRecord(file: string, record: ClusterRecord): void {
  writePrivate(file, `${JSON.stringify(record, null, 2)}\n`);
}

/** Prepares the folders of a home and returns their paths. @throws HOME_UNUSABLE */
export function openClusterHome(folder: string, surroundings: ClusterSurroundings): ClusterHome {
  const { binaries, sharedFolder } = surroundings;
  const home = openFolder(folder);
  const chosen = accountFor(home, surroundings.account);
  const record = readClusterRecord(home) ?? {
    cluster: chooseCluster(home, { ...surroundings, account: chosen }),
    user: 'gatehouse',
    password: randomBytes(24).toString('base64url'),
    passwordPending: true,
  };
  const data = join(record.cluster, 'data');
  const account = ownerOf(data, chosen);
  if (account !== undefined && existsSync(record.cluster) && !canReach(data, account)) {
    throw new EmbeddedPostgresError(
      'HOME_UNUSABLE',
      bilingual(
        `The database in ${record.cluster} cannot be reached by the system user ${account.name}: ` +
          'every folder above it needs the permission x for others (chmod o+x).',
        `系统用户 ${account.name} 无法访问 ${record.cluster} 中的数据库：` +
          '其上级目录都需要其他用户的 x 权限（chmod o+x）。',
      ),
    );
  }
  const recordFile = join(home, 'postgres.json');
  writeClusterRecord(recordFile, record);
  createCluster(record.cluster, account, sharedFolder);
  linkFromHome(home, record.cluster);
  return {
    home,
    recordFile,
    record,
    data,
    account,
    native: reachableNative(binaries, account, sharedFolder),
    logFile: join(home, 'postgres.log'),
  };
}

/** As root, starts the server of another user's home as that user, so that the user is not locked out of it. */
function accountFor(home: string, chosen: ServerAccount | undefined): ServerAccount | undefined {
  const { uid, gid } = statSync(home);
  return chosen === undefined || uid === 0 ? chosen : { name: `${uid}`, uid, gid };
}

/** Existing data belongs to the account that created it, which an `npm start` with sudo must respect. */
function ownerOf(data: string, chosen: ServerAccount | undefined): ServerAccount | undefined {
  const owner = statSync(data, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === (chosen?.uid ?? process.getuid?.())) return chosen;
  if (chosen !== undefined && owner.uid !== 0) return { name: `${owner.uid}`, uid: owner.uid, gid: owner.gid };
  throw new EmbeddedPostgresError(
    'HOME_UNUSABLE',
    bilingual(
      `The database in ${data} belongs to another user (${owner.uid}): start as that user, or set another GATEHOUSE_HOME.`,
      `${data} 中的数据库属于其他用户（${owner.uid}）：请以该用户启动，或设置其他 GATEHOUSE_HOME。`,
    ),
  );
}

function openFolder(folder: string): string {
  try {
    // As root, the server's account has to pass through; secret files inside have their own mode.
    makePrivateFolder(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
    return realpathSync(resolve(folder));
  } catch (cause) {
    const text = bilingual(`The folder ${folder} cannot be created or opened.`, `无法创建或打开目录 ${folder}。`);
    throw new EmbeddedPostgresError('HOME_UNUSABLE', text, { cause });
  }
}

function chooseCluster(home: string, { account, sharedFolder, log }: ClusterSurroundings): string {
  const inside = join(home, 'postgres');
  if (account === undefined || canReach(inside, account)) return inside;
  const name = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const outside = join(sharedFolder, name);
  if (existsSync(outside)) {
    // Its password was lost with the former home, and its owner may want it back: it is kept under another name.
    const former = `${outside}.former-${Date.now()}`;
    renameSync(outside, former);
    log(
      bilingual(
        `An earlier home at ${home} left its database behind; it is kept in ${former}`,
        `${home} 中以前的主目录留下了数据库，保留在 ${former} 中`,
      ),
    );
  }
  return outside;
}

function createCluster(cluster: string, account: ServerAccount | undefined, sharedFolder: string): void {
  if (cluster.startsWith(`${sharedFolder}/`)) mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
  mkdirSync(cluster, { recursive: true, mode: 0o700 });
  if (account !== undefined) chownSync(cluster, account.uid, account.gid);
  chmodSync(cluster, 0o700);
}

/** A link named `postgres` in the home shows where the data really is. */
function linkFromHome(home: string, cluster: string): void {
  const link = join(home, 'postgres');
  if (link === cluster) return;
  const present = lstatSync(link, { throwIfNoEntry: false });
  if (present?.isSymbolicLink()) rmSync(link);
  else if (present !== undefined) return;
  symlinkSync(cluster, link);
}

/** The programs, copied once per version (60 MB) to a folder the account can reach when node_modules is not one. */
function reachableNative(binaries: PostgresBinaries, account: ServerAccount | undefined, sharedFolder: string): string {
  if (account === undefined || canReach(join(binaries.native, 'bin', 'postgres'), account)) return binaries.native;
  const copy = join(sharedFolder, `native-${binaries.packageVersion}`);
  if (existsSync(copy)) return copy;
  mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
  const draft = `${copy}.${process.pid}.${randomBytes(4).toString('hex')}`;
  cpSync(binaries.native, draft, { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, copy);
  } catch (error) {
    // Another process finished the same copy first.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

/** Name of the cluster for messages. */
export function describeCluster(home: ClusterHome): string {
  return basename(home.record.cluster) === 'postgres' ? home.data : `${home.data} (database of ${home.home})`;
}
