import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withClient } from '@gatehouse/persistence';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { freePort } from './processes.js';
import { SiteBrowser } from './site-browser.js';

const MAIN = fileURLToPath(new URL('../../apps/resource-sharing/dist/main.js', import.meta.url));
const SEED = fileURLToPath(new URL('../../apps/resource-sharing/dist/seed-demo.js', import.meta.url));
const run = promisify(execFile);

/** Registered at `POST /api/site/applications`. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret: string;
}

/** People and an application that `npm run seed:demo` makes, and browsers they sit before. */
export interface Demonstration {
  readonly client: RegisteredClient;
  readonly developer: SiteBrowser;
  /** With Premium and points. */
  readonly viewer: SiteBrowser;
}

/** The built resource-sharing as a process of its own, under its public address, on a database and a home of its own. */
export class RunningResourceSharing implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly url: string;
  readonly username = 'admin';
  readonly password = 'a-password-for-tests';
  readonly #process: ChildProcess;
  readonly #env: NodeJS.ProcessEnv;
  readonly #home: string;

  private constructor(database: TestDatabase, child: ChildProcess, env: NodeJS.ProcessEnv, home: string) {
    this.database = database;
    this.#process = child;
    this.#env = env;
    this.#home = home;
    this.url = `http://127.0.0.1:${env['RESOURCE_SHARING_PORT']}`;
  }

  static async start(env: Record<string, string> = {}): Promise<RunningResourceSharing> {
    const database = await createTestDatabase();
    const home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-sharing-'));
    // The issuer's name holds the port, so it has to be known beforehand.
    const full = { ...environment(database.url, home, await freePort()), ...env };
    const child = fork(MAIN, [], {
      env: full,
      execArgv: [], // the test runner's own would make the built files import sources
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let printed = '';
    const keep = (chunk: Buffer): void => void (printed = (printed + chunk.toString()).slice(-4000));
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    await Promise.race([
      once(child, 'message').then(([message]) => requireReady(message as { type: string })),
      once(child, 'exit').then(([code]) => {
        throw new Error(`resource-sharing ended with ${code} before it was ready:\n${printed}`);
      }),
    ]);
    return new RunningResourceSharing(database, child, full, home);
  }

  /** Somebody with a browser and the account of the first administrator. */
  async administrator(): Promise<SiteBrowser> {
    const browser = new SiteBrowser(this.url);
    await browser.logIn(this.username, this.password);
    return browser;
  }

  /** Runs the command beside the service, as a person would. `redirectUris` become those of its application. */
  async seedDemo(redirectUris: readonly string[]): Promise<Demonstration> {
    await run(process.execPath, [SEED], { env: this.#env });
    const { developerPassword, viewerPassword, applicationSecret } = JSON.parse(
      readFileSync(path.join(this.#home, 'demo.json'), 'utf8'),
    ) as Record<'developerPassword' | 'viewerPassword' | 'applicationSecret', string>;
    const [developer, viewer] = [new SiteBrowser(this.url), new SiteBrowser(this.url)];
    await developer.logIn('demo-developer', developerPassword);
    await viewer.logIn('demo-viewer', viewerPassword);
    const { data } = await developer.call<{ data: { client_id: string }[] }>('GET', '/api/site/applications');
    const id = data[0]?.client_id ?? '';
    await developer.call('PATCH', `/api/site/applications/${id}`, { redirect_uris: redirectUris });
    await this.acceptProposal(id);
    return { client: { id, secret: applicationSecret }, developer, viewer };
  }

  /** As an administrator does who has looked at what the owner of a reviewed application wants to change. */
  private async acceptProposal(clientId: string): Promise<void> {
    const administrator = await this.administrator();
    const path = `/api/site/admin/applications/${clientId}`;
    const { data } = await administrator.call<{ data: { updated_at: string } }>('GET', path);
    await administrator.call('PATCH', path, { proposal: 'accept', seen_at: data.updated_at });
  }

  /** Against the service's database, behind its back; tables carry the name of their schema. */
  async query(sql: string): Promise<Record<string, unknown>[]> {
    const { rows } = await withClient(this.database.url, (client) => client.query<Record<string, unknown>>(sql));
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
    await this.database.drop();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** An application of whoever sits before that browser, who may use it without a review. */
export async function registerClient(browser: SiteBrowser, registration: object): Promise<RegisteredClient> {
  const { data } = await browser.call<{ data: { client_id: string; secret: { secret: string } } }>(
    'POST',
    '/api/site/applications',
    { name: 'Test client', scopes: ['meta', 'query'], ...registration },
  );
  return { id: data.client_id, secret: data.secret.secret };
}

function requireReady(message: { type: string }): void {
  if (message.type !== 'ready') throw new Error(`resource-sharing did not start: ${JSON.stringify(message)}`);
}

function environment(databaseUrl: string, home: string, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    GATEHOUSE_HOME: home,
    GATEHOUSE_ADMIN_PASSWORD: 'a-password-for-tests',
    RESOURCE_SHARING_PORT: String(port),
    API_RATE_LIMIT: '0',
    AUTO_MIGRATE: 'true',
    LOG_LEVEL: 'warn',
  };
}
