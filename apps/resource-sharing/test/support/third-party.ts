import { randomBytes } from 'node:crypto';
import { UnitOfWork } from '@gatehouse/persistence';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { ApplicationSecrets } from '../../src/applications/application-secrets.service.js';
import type { Application } from '../../src/applications/application-rows.js';
import { Applications, type NewApplication } from '../../src/applications/applications.service.js';
import { Registration } from '../../src/applications/registration.js';
import { PersonalKeys } from '../../src/applications/personal-keys.service.js';
import type { OpenScope } from '../../src/credentials/caller.js';
import { AuthorizationService } from '../../src/oauth/authorization.service.js';
import { challengeOf } from '../../src/oauth/pkce.js';
import { SiteAccounts } from '../../src/site/site-accounts.service.js';
import type { SiteApp } from '../site-app.js';

export const CALLBACK = 'https://client.example/callback';
export const PASSWORD = 'correct horse battery';
export const EVERYTHING: readonly OpenScope[] = ['meta', 'query', 'unlock', 'write', 'vip'];
/** RFC 7636 appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface RegisteredApp {
  readonly application: Application;
  readonly clientId: string;
  readonly secret: string;
  readonly secretId: number;
}

/** Sets up users, applications and tokens of one running service, and sends requests as a third party would. */
export class ThirdParty {
  readonly site: SiteApp;

  constructor(site: SiteApp) {
    this.site = site;
  }

  get sql(): DataSource {
    return this.site.app.get(DataSource);
  }

  async user(name = `user${randomBytes(5).toString('hex')}`): Promise<{ id: number; name: string }> {
    await this.site.app.get(SiteAccounts).create({ username: name, password: PASSWORD, role: 'member' });
    const [row] = (await this.sql.query('SELECT id FROM site_accounts WHERE username = $1', [name])) as [
      { id: number },
    ];
    return { id: row.id, name };
  }

  /** The cookie of a login. */
  async cookie(username: string): Promise<string> {
    const answer = await request(this.site.url).post('/api/site/login').send({ username, password: PASSWORD });
    return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  }

  /** A reviewed application unless `reviewed` says otherwise. */
  async register(
    ownerId: number,
    given: Partial<NewApplication> = {},
    { reviewed = true }: { reviewed?: boolean } = {},
  ): Promise<RegisteredApp> {
    const { application, issued } = await this.site.app.get(Registration).register(ownerId, {
      name: 'Client',
      kind: 'confidential',
      redirectUris: [CALLBACK],
      scopes: EVERYTHING,
      ...given,
    });
    const clientId = application.clientId;
    if (reviewed) await this.review(clientId, { authLevel: 'verified', status: 'approved' });
    return { application, clientId, secret: issued.secret, secretId: issued.info.id };
  }

  /** Lets an application act for its owner, as with the owner's password. */
  async bind(ownerId: number, clientId: string): Promise<void> {
    const applications = this.site.app.get(Applications);
    await this.unitOfWork.run((tx) => applications.update(ownerId, clientId, { boundToOwner: true }, tx));
  }

  async review(clientId: string, review: Parameters<Applications['review']>[2]): Promise<void> {
    await this.site.app.get(Applications).review(0, clientId, review);
  }

  get secrets(): ApplicationSecrets {
    return this.site.app.get(ApplicationSecrets);
  }

  get keys(): PersonalKeys {
    return this.site.app.get(PersonalKeys);
  }

  get unitOfWork(): UnitOfWork {
    return this.site.app.get(UnitOfWork);
  }

  /** A code of that user, as the page issues it. */
  async code(
    app: RegisteredApp,
    userId: number,
    options: { pkce?: boolean; scope?: string; redirectUri?: string } = {},
  ): Promise<string> {
    const result = await this.site.app.get(AuthorizationService).confirm(
      {
        client_id: app.clientId,
        redirect_uri: options.redirectUri ?? CALLBACK,
        ...(options.scope === undefined ? {} : { scope: options.scope }),
        ...(options.pkce === true ? { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' } : {}),
      },
      userId,
      { approved: true },
    );
    return result.code;
  }

  /** POST of the spec's token path, with the application secret. */
  token(app: RegisteredApp, body: object, url = this.site.url): request.Test {
    return request(url).post('/api/public/openapi/oauth/token').set('X-API-Key', app.secret).send(body);
  }

  exchange(app: RegisteredApp, code: string, more: object = {}): request.Test {
    return this.token(app, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, ...more });
  }

  refresh(app: RegisteredApp, refreshToken: string, url?: string): request.Test {
    return this.token(app, { grant_type: 'refresh_token', refresh_token: refreshToken }, url);
  }

  async tokens(app: RegisteredApp, userId: number, options: { scope?: string } = {}): Promise<TokenPair> {
    const answer = await this.exchange(app, await this.code(app, userId, options));
    if (answer.status !== 200) throw new Error(answer.text);
    return (answer.body as { data: TokenPair }).data;
  }

  /** Tokens of a public application, which proves itself by PKCE alone. */
  async publicTokens(app: RegisteredApp, userId: number, options: { scope?: string } = {}): Promise<TokenPair> {
    const code = await this.code(app, userId, { ...options, pkce: true });
    const answer = await request(this.site.url).post('/oauth2/token').type('form').send({
      grant_type: 'authorization_code',
      client_id: app.clientId,
      code,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
    });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body as TokenPair;
  }

  /** GET of a probe, with key and user token. */
  probe(path: string, key?: string, token?: string, url = this.site.url): request.Test {
    const call = request(url).get(`/api/open/probe/${path}`);
    if (key !== undefined) void call.set('X-API-Key', key);
    return token === undefined ? call : call.set('Authorization', `Bearer ${token}`);
  }

  async events(type: string): Promise<{ grant_id: number | null; details: object }[]> {
    return (await this.sql.query('SELECT * FROM audit_events WHERE type = $1 ORDER BY id', [type])) as never;
  }
}
