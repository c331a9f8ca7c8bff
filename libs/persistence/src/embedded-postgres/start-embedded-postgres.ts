import { bilingual, type Bilingual } from '@gatehouse/i18n';
import pg from 'pg';
import { createLibraryLinks, locateBinaries, type PostgresBinaries } from './binaries.js';
import { openClusterHome, SHARED_FOLDER, writeClusterRecord, type ClusterHome } from './cluster-home.js';
import { takeOver } from './former-server.js';
import { createDataDirectory, hasDataDirectory } from './initialise.js';
import { choosePort } from './port.js';
import { resetPassword } from './reset-password.js';
import { chooseServerAccount } from './server-account.js';
import { ServerProcess, type ServerExit, type ServerSettings } from './server-process.js';

export const DEFAULT_DATABASE = 'gatehouse';

export interface EmbeddedPostgresOptions {
  /** GATEHOUSE_HOME; created when it does not exist. */
  home: string;
  /** A fixed port; 0 or absent: the port of the last start if it is free, or else any free one. */
  port?: number;
  /** Variable named in the error if a fixed port is taken. */
  portVariable?: string;
  /** False turns fsync off: for tests only. */
  durable?: boolean;
  /** Called with one line for each event that a person should know (orphan stopped, database created...). */
  log?: (text: Bilingual) => void;
  /** Programs to use instead of the installed package's. */
  binaries?: PostgresBinaries;
  /** Where data and programs go when the server's account cannot reach the home. Default `/var/lib/gatehouse`. */
  sharedFolder?: string;
}

export interface EmbeddedPostgres {
  readonly port: number;
  readonly pid: number;
  /** Where the data really is; not always inside the home. */
  readonly dataDirectory: string;
  /** Resolves when the server has ended, through `stop()` or on its own. */
  readonly exited: Promise<ServerExit>;
  /** Connection string with the superuser's password. */
  url(database?: string): string;
  /** Ends all sessions, stops the server and resolves when it is gone. Call it last. */
  stop(): Promise<void>;
}

/** Starts the PostgreSQL of a home, creating it the first time. @throws EmbeddedPostgresError */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  const portVariable = options.portVariable ?? 'GATEHOUSE_POSTGRES_PORT';
  const binaries = options.binaries ?? locateBinaries();
  createLibraryLinks(binaries.native);
  const home = openClusterHome(options.home, {
    binaries,
    account: chooseServerAccount(),
    sharedFolder: options.sharedFolder ?? SHARED_FOLDER,
    log,
  });
  const durable = options.durable ?? true;
  await takeOver(home, log);
  await prepareData(home, binaries, durable, log);
  const settings: ServerSettings = {
    port: await choosePort(options.port ?? 0, home.record.port, portVariable),
    durable,
    major: binaries.major,
  };
  const server = await launch(home, settings, portVariable);
  return {
    port: settings.port,
    pid: server.child.pid ?? 0,
    dataDirectory: home.data,
    exited: server.exited,
    url: (database = DEFAULT_DATABASE) => connectionString(home, settings.port, database),
    stop: () => server.stop(),
  };
}

async function prepareData(
  home: ClusterHome,
  binaries: PostgresBinaries,
  durable: boolean,
  log: (text: Bilingual) => void,
): Promise<void> {
  const { record } = home;
  if (!hasDataDirectory(home, binaries)) {
    log(bilingual(`Creating the database in ${home.data}`, `正在 ${home.data} 中创建数据库`));
    await createDataDirectory(home, binaries, durable);
  } else if (record.passwordPending === true) {
    log(
      bilingual(
        `Setting a new password for the database in ${home.data}: ${home.recordFile} was lost`,
        `正在为 ${home.data} 中的数据库设置新密码：${home.recordFile} 已丢失`,
      ),
    );
    await resetPassword(home);
  } else return;
  delete record.passwordPending;
  writeClusterRecord(home.recordFile, record);
}

async function launch(home: ClusterHome, settings: ServerSettings, portVariable: string): Promise<ServerProcess> {
  const server = new ServerProcess(home, settings);
  home.record.port = settings.port;
  home.record.supervisorPid = process.pid;
  writeClusterRecord(home.recordFile, home.record);
  try {
    await server.ready(connectionString(home, settings.port, 'postgres'), settings, portVariable);
    await createDefaultDatabase(connectionString(home, settings.port, 'postgres'));
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function createDefaultDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DEFAULT_DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DEFAULT_DATABASE}`);
  } finally {
    await client.end();
  }
}

function connectionString({ record }: Pick<ClusterHome, 'record'>, port: number, database: string): string {
  return `postgresql://${record.user}:${record.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}
