import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reservePort } from '@gatehouse/testing';
import { withClient } from '@gatehouse/persistence';
import type { TestDatabase } from '@gatehouse/testing';
import { BuiltService } from './built-service.js';
import { SiteBrowser } from './site-browser.js';

const SEED = fileURLToPath(new URL('../../apps/resource-sharing/bundle/seed-demo.js', import.meta.url));
const PASSWORD = 'a-password-for-tests';
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
  /** For signing in as `demo-viewer`. */
  readonly viewerPassword: string;
}

/** The built resource-sharing as a process of its own, under its public address, on a database and a home of its own. */
export class RunningResourceSharing implements AsyncDisposable {
  readonly url: string;
  readonly username = 'admin';
  readonly password = PASSWORD;
  readonly #service: BuiltService;

  private constructor(service: BuiltService, port: number) {
    this.#service = service;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(env: Record<string, string> = {}): Promise<RunningResourceSharing> {
    // The issuer's name holds the port, so it has to be known beforehand.
    const port = await reservePort();
    const service = await BuiltService.start('resource-sharing', {
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      RESOURCE_SHARING_PORT: String(port),
      API_RATE_LIMIT: '0',
      ...env,
    });
    return new RunningResourceSharing(service, port);
  }

  get database(): TestDatabase {
    return this.#service.database;
  }

  /** A browser with the account of the first administrator. */
  async administrator(): Promise<SiteBrowser> {
    const browser = new SiteBrowser(this.url);
    await browser.logIn(this.username, this.password);
    return browser;
  }

  /** Runs the command beside the service, as a person would. `redirectUris` become those of its application. */
  async seedDemo(redirectUris: readonly string[]): Promise<Demonstration> {
    await run(process.execPath, [SEED], { env: this.#service.env });
    const { developerPassword, viewerPassword, applicationSecret } = JSON.parse(
      readFileSync(path.join(this.#service.home, 'demo.json'), 'utf8'),
    ) as Record<'developerPassword' | 'viewerPassword' | 'applicationSecret', string>;
    const [developer, viewer] = [new SiteBrowser(this.url), new SiteBrowser(this.url)];
    await developer.logIn('demo-developer', developerPassword);
    await viewer.logIn('demo-viewer', viewerPassword);
    const { data } = await developer.call<{ data: { client_id: string }[] }>('GET', '/api/site/applications');
    const id = data[0]?.client_id ?? '';
    await developer.call('PATCH', `/api/site/applications/${id}`, { redirect_uris: redirectUris });
    await this.acceptProposal(id);
    return { client: { id, secret: applicationSecret }, developer, viewer, viewerPassword };
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
    await this.#service[Symbol.asyncDispose]();
  }
}

/** An application of the user of that browser, who may use it without a review. */
export async function registerClient(browser: SiteBrowser, registration: object): Promise<RegisteredClient> {
  const { data } = await browser.call<{ data: { client_id: string; secret: { secret: string } } }>(
    'POST',
    '/api/site/applications',
    { name: 'Test client', scopes: ['meta', 'query'], ...registration },
  );
  return { id: data.client_id, secret: data.secret.secret };
}
