import request from 'supertest';
import type { DataSource } from 'typeorm';
import { TestKeys } from '../../src/applications/test-keys.service.js';
import { RefusedCalls } from '../../src/refused-calls/refused-calls.js';
import { ShareLooks } from '../../src/risk/share-looks.js';
import { ShareCounters } from '../../src/shares/share-counters.js';
import { UsageRecorder } from '../../src/usage/usage-recorder.js';
import { startOpenSite } from './open-site.js';
import { ThirdParty, type RegisteredApp } from './third-party.js';

export interface TestSetup {
  readonly owner: { readonly id: number; readonly name: string };
  readonly app: RegisteredApp;
  readonly key: string;
  readonly keyId: number;
  /** Of the owner. */
  readonly token: string;
}

export interface Call {
  readonly method?: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly body?: object;
  readonly key: string;
  readonly token?: string;
  readonly idempotencyKey?: string;
  readonly url?: string;
}

export const dataOf = <T>(answer: request.Response): T => (answer.body as { data: T }).data;
export const codeOf = (answer: request.Response): string => (answer.body as { code: string }).code;

/** A service with applications that make test calls. */
export class TestModeSite {
  readonly site: Awaited<ReturnType<typeof startOpenSite>>;
  readonly party: ThirdParty;

  private constructor(site: TestModeSite['site']) {
    this.site = site;
    this.party = new ThirdParty(site);
  }

  static async start(env: Record<string, string> = {}): Promise<TestModeSite> {
    const unlimited = { API_RATE_LIMIT: '0', OPEN_API_ADDRESS_RATE_LIMIT: '0' };
    return new TestModeSite(await startOpenSite({ ...unlimited, ...env }));
  }

  get sql(): DataSource {
    return this.party.sql;
  }

  /** An application that nobody has reviewed, with a test key and a token of its owner. */
  async setUp(): Promise<TestSetup> {
    const owner = await this.party.user();
    const app = await this.party.register(owner.id, {}, { reviewed: false });
    const { secret: key, info } = await this.site.app.get(TestKeys).create(owner.id, app.clientId);
    const { access_token: token } = await this.party.tokens(app, owner.id);
    return { owner, app, key, keyId: info.id, token };
  }

  call({ method = 'get', path, body, key, token, idempotencyKey, url = this.site.url }: Call): request.Test {
    const sent = request(url)[method](`/api/open${path}`).set('X-API-Key', key);
    if (token !== undefined) void sent.set('Authorization', `Bearer ${token}`);
    if (idempotencyKey !== undefined) void sent.set('Idempotency-Key', idempotencyKey);
    return body === undefined ? sent : sent.send(body);
  }

  read<Row extends object>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.sql.query<Row[]>(text, values);
  }

  /** The slugs of made-up shares by what comes of unlocking them. */
  async madeUp({ owner, app }: TestSetup): Promise<Record<string, string>> {
    const shares = await this.site.app.get(TestKeys).shares(owner.id, app.clientId);
    return Object.fromEntries(shares.map(({ name, slug }) => [name, slug]));
  }

  /** Of the owner's test account. */
  async balanceOf({ owner, app }: TestSetup): Promise<number | undefined> {
    const [row] = await this.read<{ balance: number }>(
      `SELECT l.balance FROM resource_sharing_test.test_accounts t
       JOIN resource_sharing_test.ledger_accounts l ON l.user_id = t.id
       WHERE t.application_id = $1 AND t.user_id = $2 AND NOT t.is_made_up`,
      [app.application.id, owner.id],
    );
    return row?.balance;
  }

  /** Writes what the service collects and writes once a second. */
  async settle(): Promise<void> {
    await this.site.app.get(ShareCounters).flush();
    await this.site.app.get(ShareLooks).flush();
    await this.site.app.get(UsageRecorder).flush();
    await this.site.app.get(RefusedCalls).flush();
  }
}
