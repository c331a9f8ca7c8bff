import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { challengeOf } from '../src/oauth/pkce.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty, VERIFIER, type RegisteredApp, type TokenPair } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

const HOSTILE = `<script>alert("x")</script>'&`;
const STATE = 'a b&c=%2F"<';
const ISSUER = 'http://127.0.0.1:8081';

describe.each(['/openapi/authorize', '/oauth2/authorize'])('%s', (path) => {
  let site: SiteApp;
  let third: ThirdParty;
  let app: RegisteredApp;

  const address = (client: RegisteredApp, more: Record<string, string | undefined> = {}): string => {
    const parameters = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: CALLBACK,
      scope: 'meta query unlock',
      state: STATE,
      ...more,
    };
    const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    return `${path}?${new URLSearchParams(given as string[][]).toString()}`;
  };
  const user = async (): Promise<{ id: number; name: string; reader: PageReader }> => {
    const made = await third.user(`user-${randomBytes(5).toString('hex')}`);
    const reader = new PageReader(site.url);
    await reader.logIn(made.name, PASSWORD);
    return { ...made, reader };
  };
  const answerOf = (reader: PageReader): Record<string, string> => {
    expect(reader.last?.status).toBe(303);
    expect(reader.location.startsWith(`${CALLBACK}?`)).toBe(true);
    return Object.fromEntries(new URL(reader.location).searchParams);
  };

  beforeAll(async () => {
    site = await startOpenSite();
    third = new ThirdParty(site);
    app = await third.register((await third.user()).id);
  });
  afterAll(() => site.close());

  it('makes invisible characters visible in names from before they were refused', async () => {
    const old = await third.register((await third.user()).id, { name: '\u202eknab ruoY\u200b' });
    const { reader } = await user();
    await reader.get(address(old));
    expect(reader.text).toContain('\ufffdknab ruoY\ufffd wants to act for your account.');
    expect(reader.page).not.toMatch(/[\u202e\u200b]/);
  });

  it('carries a third party through: login, consent, exchange, call, refresh, revocation', async () => {
    const { name } = await third.user(`user-${randomBytes(5).toString('hex')}`);
    const reader = new PageReader(site.url);
    const asked = address(app, { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' });
    await reader.get(asked);
    expect([reader.last?.status, reader.location]).toEqual([303, `/login?return_to=${encodeURIComponent(asked)}`]);
    await reader.follow();
    await reader.submit('/login', { username: name, password: PASSWORD });
    expect(reader.location).toBe(asked);
    await reader.follow();
    expect(reader.text).toContain(`(${name})`);
    await reader.submit(asked, { decision: 'allow', scope: ['meta', 'unlock'] });
    const { code = '', ...rest } = answerOf(reader);
    expect(rest).toEqual({ state: STATE, iss: ISSUER });
    expect(reader.last?.headers['referrer-policy']).toBe('no-referrer');

    const exchanged = await third.exchange(app, code, { code_verifier: VERIFIER });
    const tokens = (exchanged.body as { data: TokenPair & { scope: string } }).data;
    expect(tokens.scope.split(' ').sort()).toEqual(['meta', 'unlock']);
    expect((await third.probe('unlock', app.secret, tokens.access_token)).status).toBe(200);
    expect((await third.probe('query', app.secret, tokens.access_token)).body).toMatchObject({
      code: 'USER_SCOPE_NOT_ALLOWED',
    });
    const refreshed = await third.refresh(app, tokens.refresh_token);
    const next = (refreshed.body as { data: TokenPair }).data;
    expect((await third.probe('unlock', app.secret, next.access_token)).status).toBe(200);

    await reader.get('/authorized');
    await reader.submit(`/authorized/${app.clientId}/revoke`);
    await reader.follow();
    expect(reader.text).toContain('No application acts for you.');
    expect((await third.probe('unlock', app.secret, next.access_token)).body).toMatchObject({
      code: 'OPENAPI_REAUTH_REQUIRED',
    });
    expect((await third.refresh(app, next.refresh_token)).status).toBe(401);
  });

  it('shows application, account and each scope, and hostile names as text', async () => {
    const hostile = await third.register((await third.user()).id, { name: HOSTILE, description: HOSTILE });
    const { id, name, reader } = await user();
    await third.sql.query('UPDATE site_accounts SET nickname = $2 WHERE id = $1', [id, HOSTILE]);
    const { headers } = await reader.get(address(hostile));
    expect(reader.page).not.toContain('<script>');
    expect(reader.text).toContain(`${HOSTILE} wants to act for your account.`);
    expect(reader.text).toContain(`${HOSTILE} (${name})`);
    expect(reader.text).toContain('client.example');
    const boxes = [...reader.page.matchAll(/type="checkbox" id="[^"]+" name="scope" value="(\w+)" checked/g)];
    expect(boxes.map(([, scope]) => scope)).toEqual(['meta', 'query', 'unlock']);
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(headers['content-security-policy']).toContain("form-action 'self' https:;");
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('RFC 9700 2.1, 4.4: denies with access_denied, state and issuer, and without an authorization', async () => {
    const { id, reader } = await user();
    for (const answer of [{ decision: 'deny', scope: 'meta' }, { scope: 'meta' }, { decision: 'allow' }]) {
      await reader.get(address(app));
      await reader.submit(address(app), answer as Record<string, string>);
      expect(answerOf(reader)).toMatchObject({ error: 'access_denied', state: STATE, iss: ISSUER });
    }
    const rows = (await third.sql.query('SELECT FROM grants WHERE user_id = $1', [id])) as unknown[];
    expect(rows).toHaveLength(0);
  });

  it('RFC 9700 4.12: redirects with 303 for any answer, and never forwards the form', async () => {
    for (const decision of ['allow', 'deny']) {
      const { reader } = await user();
      await reader.get(address(app));
      await reader.submit(address(app), { decision, scope: 'meta' });
      expect(reader.last?.status).toBe(303);
      expect(reader.last?.text).toBe('');
    }
  });

  it('RFC 9700 4.2.4, 4.16: no page can be framed, and none reveals where a visitor came from', async () => {
    const { reader } = await user();
    const pages = [address(app), address(app, { redirect_uri: 'https://evil.example/' }), '/login?return_to=%2Fkeys'];
    for (const page of pages) {
      const { headers } = await reader.get(page);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toMatch(/^(?:no-referrer|same-origin)$/);
    }
  });

  it('RFC 9700 2.3: grants only requested scopes', async () => {
    const { reader } = await user();
    await reader.get(address(app, { scope: 'meta' }));
    await reader.submit(address(app, { scope: 'meta' }), { decision: 'allow', scope: ['meta', 'write', 'vip'] });
    const exchanged = await third.exchange(app, answerOf(reader)['code'] ?? '');
    expect((exchanged.body as { scope: string }).scope).toBe('meta');
  });

  it.each([
    ['an unknown application', { client_id: 'app_nobody' }],
    ['no application', { client_id: undefined }],
    ['an address that is not registered', { redirect_uri: 'https://evil.example/callback' }],
    ['an address that begins like one', { redirect_uri: `${CALLBACK}/more` }],
    ['a script for an address', { redirect_uri: 'javascript:alert(1)' }],
  ])('shows an error for %s, and does not redirect', async (_, wrong) => {
    const { reader } = await user();
    const { status, headers } = await reader.get(address(app, wrong));
    expect(status).toBe(400);
    expect(headers['location']).toBeUndefined();
    expect(headers['content-type']).toMatch(/^text\/html/);
    expect(reader.page).not.toMatch(/evil\.example|javascript:/);
  });

  it('shows an error for a parameter sent twice', async () => {
    const { reader } = await user();
    expect((await reader.get(`${address(app)}&client_id=${app.clientId}`)).status).toBe(400);
    expect(reader.location).toBe('');
  });

  it('shows an error for an application whose owner is disabled, without its address, and accepts no form', async () => {
    const ownerId = (await third.user()).id;
    const orphan = await third.register(ownerId);
    const { id, reader } = await user();
    await reader.get(address(orphan));
    await third.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [ownerId]);
    await reader.submit(address(orphan), { decision: 'allow', scope: ['meta'] });
    expect([reader.last?.status, reader.location]).toEqual([400, '']);
    expect((await reader.get(address(orphan))).status).toBe(400);
    expect(reader.text).toContain('This application is disabled');
    expect(await third.sql.query('SELECT FROM grants WHERE user_id = $1', [id])).toEqual([]);
    await third.sql.query('UPDATE site_accounts SET disabled_at = NULL WHERE id = $1', [ownerId]);
    expect((await reader.get(address(orphan))).status).toBe(200);
  });

  it('shows an error for a disabled application', async () => {
    const disabled = await third.register((await third.user()).id);
    await third.review(disabled.clientId, { status: 'disabled' });
    const { reader } = await user();
    expect((await reader.get(address(disabled))).status).toBe(400);
  });

  it.each([
    ['invalid_scope', { scope: 'everything' }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { response_mode: 'web_message' }],
    ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
    ['invalid_target', { resource: 'https://other.example/' }],
  ])('sends %s to the application', async (error, wrong) => {
    const { reader } = await user();
    await reader.get(address(app, wrong));
    expect(answerOf(reader)).toMatchObject({ error, state: STATE, iss: ISSUER });
  });

  it(path.startsWith('/oauth2') ? 'asks for response_type' : 'takes a missing response_type for code', async () => {
    const { reader } = await user();
    const { status } = await reader.get(address(app, { response_type: undefined, response_mode: 'redirect' }));
    if (path.startsWith('/openapi')) expect(status).toBe(200);
    else expect(answerOf(reader)).toMatchObject({ error: 'invalid_request' });
  });

  it('refuses an unreviewed application to everyone except its owner and test users', async () => {
    const [owner, stranger] = [await user(), await user()];
    const unreviewed = await third.register(owner.id, {}, { reviewed: false });
    await stranger.reader.get(address(unreviewed));
    expect(answerOf(stranger.reader)).toMatchObject({ error: 'access_denied' });
    expect((await owner.reader.get(address(unreviewed))).status).toBe(200);
    expect(owner.reader.text).toContain('not reviewed');
  });

  it('RFC 9700 4.7: refuses an answer without the token of the page, or from another site', async () => {
    const { reader } = await user();
    expect((await reader.post(address(app), { decision: 'allow', scope: 'meta' })).status).toBe(403);
    await reader.get(address(app));
    const answer = { decision: 'allow', scope: 'meta' };
    expect((await reader.submit(address(app), answer, { headers: { Origin: 'https://evil.example' } })).status).toBe(
      403,
    );
    await reader.get(address(app));
    // What browsers send from a page without referrer.
    const headers = { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' };
    expect((await reader.submit(address(app), answer, { headers })).status).toBe(303);
  });

  it('lets a visitor continue with another account', async () => {
    const [one, other] = [await user(), await user()];
    await one.reader.get(address(app));
    await one.reader.submit('/logout', {}, { containing: 'Use another account' });
    await one.reader.follow();
    await one.reader.submit('/login', { username: other.name, password: PASSWORD });
    expect(one.reader.location).toBe(address(app));
    await one.reader.follow();
    expect(one.reader.text).toContain(`(${other.name})`);
  });

  describe('a second consent', () => {
    const allow = async (reader: PageReader, client: RegisteredApp, scope: string, exchange = true): Promise<void> => {
      await reader.get(address(client, { scope }));
      await reader.submit(address(client, { scope }), { decision: 'allow', scope: scope.split(' ') });
      const { code = '' } = answerOf(reader);
      if (exchange) expect((await third.exchange(client, code)).status).toBe(200);
    };

    it('is skipped for the same or fewer scopes of a reviewed application', async () => {
      const { reader } = await user();
      await allow(reader, app, 'meta query');
      for (const scope of ['meta query', 'query']) {
        await reader.get(address(app, { scope }));
        expect(answerOf(reader)['code']).toMatch(/^hac_/);
      }
      expect((await reader.get(address(app, { scope: 'meta query unlock' }))).status).toBe(200);
    });

    it('is asked for if only several authorizations together have the scopes', async () => {
      const { reader } = await user();
      await allow(reader, app, 'meta');
      await allow(reader, app, 'query');
      expect((await reader.get(address(app, { scope: 'meta query' }))).status).toBe(200);
    });

    it('is asked for after the user revoked the authorization, and before it was used', async () => {
      const { reader } = await user();
      await allow(reader, app, 'meta', false);
      expect((await reader.get(address(app, { scope: 'meta' }))).status).toBe(200);
      await allow(reader, app, 'meta');
      await reader.get('/authorized');
      await reader.submit(`/authorized/${app.clientId}/revoke`);
      expect((await reader.get(address(app, { scope: 'meta' }))).status).toBe(200);
    });

    it('is asked for if the application is not reviewed', async () => {
      const owner = await user();
      const unreviewed = await third.register(owner.id, {}, { reviewed: false });
      await allow(owner.reader, unreviewed, 'meta');
      expect((await owner.reader.get(address(unreviewed, { scope: 'meta' }))).status).toBe(200);
    });

    it('is asked for if the application is public', async () => {
      const spa = await third.register((await third.user()).id, { kind: 'public' });
      const { id, reader } = await user();
      const pkce = { scope: 'meta', code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' };
      await reader.get(address(spa, pkce));
      await reader.submit(address(spa, pkce), { decision: 'allow', scope: 'meta' });
      const { code = '' } = answerOf(reader);
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: CALLBACK,
        client_id: spa.clientId,
        code_verifier: VERIFIER,
      };
      expect((await request(site.url).post('/oauth2/token').type('form').send(form)).status).toBe(200);
      const rows = (await third.sql.query('SELECT FROM grants WHERE user_id = $1', [id])) as unknown[];
      expect(rows).toHaveLength(1);
      expect((await reader.get(address(spa, pkce))).status).toBe(200);
    });

    it('is asked for again after ten times within an hour', async () => {
      const { id, reader } = await user();
      await allow(reader, app, 'meta');
      const [row] = (await third.sql.query('SELECT id FROM applications WHERE client_id = $1', [app.clientId])) as {
        id: number;
      }[];
      await third.sql.query(
        `INSERT INTO grants (user_id, application_id, scopes) SELECT $1, $2, '{meta}' FROM generate_series(1, 9)`,
        [id, row?.id],
      );
      expect((await reader.get(address(app, { scope: 'meta' }))).status).toBe(200);
    });
  });
});
