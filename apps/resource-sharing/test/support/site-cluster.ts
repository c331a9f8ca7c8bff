import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDataSource, loadSecretKey } from '@gatehouse/persistence';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { hasherFor } from '../../src/credentials/secret-hasher.js';
import { SERVICE } from '../../src/service.js';
import { OPEN_SCOPES } from '../../src/credentials/caller.js';
import { liftLimits, setPremium } from '../points-support.js';

const MAIN = fileURLToPath(new URL('../../bundle/main.js', import.meta.url));

const START_ATTEMPTS = 5;

interface StartFailure {
  type: 'failed';
  lines: string[];
}

interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
}

export interface ClusterUser {
  readonly id: number;
  readonly key: string;
}

export interface ClusterAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly data: Record<string, unknown> | null;
  readonly replayed: boolean;
}

/** Several processes of the built service on one database, which a test may kill. */
export class SiteCluster implements AsyncDisposable {
  readonly sql: DataSource;
  readonly database: TestDatabase;
  private readonly home: string;
  private readonly env: Readonly<Record<string, string>>;
  private readonly replicas: (Replica | undefined)[] = [];

  private constructor(database: TestDatabase, home: string, env: Readonly<Record<string, string>>) {
    this.database = database;
    this.home = home;
    this.env = env;
    this.sql = createDataSource(SERVICE.databaseConfig(database.url, 'test'));
  }

  static async start(count: number, env: Record<string, string> = {}): Promise<SiteCluster> {
    if (!existsSync(MAIN)) throw new Error('apps/resource-sharing/dist is missing: run npm run build');
    const home = mkdtempSync(join(tmpdir(), 'resource-sharing-'));
    const prepare = async (url: string): Promise<void> => void (await SERVICE.migrate({ databaseUrl: url }));
    const database = await createTestDatabase({ template: { key: 'resource_sharing', prepare } });
    const cluster = new SiteCluster(database, home, env);
    await cluster.sql.initialize();
    await liftLimits(cluster.sql);
    for (let index = 0; index < count; index++) await cluster.restart(index);
    return cluster;
  }

  /** Ends a process as a crash of the machine would, with whatever it is doing. */
  async kill(index: number): Promise<void> {
    const replica = this.replicas[index];
    this.replicas[index] = undefined;
    if (replica === undefined || replica.child.exitCode !== null || replica.child.signalCode !== null) return;
    const exit = once(replica.child, 'exit');
    replica.child.kill('SIGKILL');
    await exit;
  }

  /** As a supervisor does: a process that a broken connection ended while it started is started again. */
  async restart(index: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.replicas[index] = await this.launch();
        return;
      } catch (error) {
        if (attempt === START_ATTEMPTS) throw error;
      }
    }
  }

  private async launch(): Promise<Replica> {
    const child = fork(MAIN, [], { env: this.environment(), stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2000)));
    const ended = once(child, 'exit').then(([code]): never => {
      throw new Error(`the service ended with ${String(code)}: ${errors}`);
    });
    const first = once(child, 'message').then(([message]) => message as { type: 'ready'; port: number } | StartFailure);
    ended.catch(() => undefined);
    const message = await Promise.race([first, ended]);
    if (message.type === 'failed') {
      await ended.catch(() => undefined);
      throw new Error(`the service did not start: ${message.lines.join(' ')}`);
    }
    return { child, url: `http://127.0.0.1:${message.port}` };
  }

  private environment(): Record<string, string> {
    return {
      NODE_ENV: 'production',
      DATABASE_URL: this.database.url,
      GATEHOUSE_HOME: this.home,
      GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery',
      RESOURCE_SHARING_PORT: '0',
      API_RATE_LIMIT: '0',
      LOG_LEVEL: 'error',
      ...this.env,
    };
  }

  /** Ends connections of the services in the middle of what they do. */
  async breakConnections(count: number): Promise<void> {
    await this.sql.query(
      `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'resource-sharing' AND pid <> pg_backend_pid()
       ORDER BY (state = 'idle'), random() LIMIT $1) chosen`,
      [count],
    );
  }

  async user(): Promise<ClusterUser> {
    const secret = hasherFor(loadSecretKey({ home: this.home, envValue: undefined })).create('personal');
    const [row] = (await this.sql.query(
      `WITH account AS (INSERT INTO site_accounts (username, nickname, password_hash)
         VALUES ('user-' || gen_random_uuid(), 'nick', 'none') RETURNING id)
       INSERT INTO credentials (kind, user_id, name, secret_hash, prefix, last_four, scopes)
       SELECT 'personal', id, 'test', $1, $2, $3, $4 FROM account RETURNING user_id`,
      [secret.hash, secret.prefix, secret.lastFour, OPEN_SCOPES],
    )) as [{ user_id: number }];
    await setPremium(this.sql, row.user_id, '1 year');
    return { id: row.user_id, key: secret.text };
  }

  /** POST to the replica of that number, or the next one that lives. Rejects when the connection breaks. */
  async post(
    user: ClusterUser,
    path: string,
    body?: object,
    { at = 0, key }: { at?: number; key?: string } = {},
  ): Promise<ClusterAnswer> {
    const live = this.replicas.filter((replica) => replica !== undefined);
    const { url } = live[at % live.length] as Replica;
    const response = await fetch(`${url}/api/open${path}`, {
      method: 'POST',
      headers: {
        'X-API-Key': user.key,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    });
    const answer = (await response.json()) as Omit<ClusterAnswer, 'status' | 'replayed'>;
    return { ...answer, status: response.status, replayed: response.headers.has('idempotency-replayed') };
  }

  /** Connections that wait for a lock. */
  async waiting(): Promise<number> {
    const [row] = (await this.sql.query(
      "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )) as [{ n: number }];
    return row.n;
  }

  async deadlocks(): Promise<number> {
    const [row] = (await this.sql.query(
      'SELECT pg_stat_get_db_deadlocks(oid) AS n FROM pg_database WHERE datname = current_database()',
    )) as [{ n: number }];
    return row.n;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.replicas.keys()) await this.kill(index);
    await this.sql.destroy();
    await this.database.drop();
    rmSync(this.home, { recursive: true, force: true });
  }
}
