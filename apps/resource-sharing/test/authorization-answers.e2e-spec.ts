import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';

const PASSWORD = 'correct horse battery';
const OAUTH = '/api/public/openapi/oauth';
let site: SiteApp;
let cookie: string;

beforeAll(async () => {
  site = await startSite({ API_RATE_LIMIT: '0', GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  const login = { username: 'admin', password: PASSWORD };
  const answer = await request(site.url).post('/api/site/login').send(login);
  cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
});
afterAll(() => site.close());

interface Description {
  paths: Record<string, Record<string, { security?: Record<string, string[]>[] }>>;
  components: { securitySchemes: Record<string, { in?: string; name?: string; scheme?: string }> };
}

describe('refusals on the authorization paths', () => {
  const big = JSON.stringify({ grant_type: 'x'.repeat(11_000_000) });
  const json = (path: string, body: string): request.Test =>
    request(site.url).post(path).set('Content-Type', 'application/json').send(body);

  it.each([
    ['an unknown address', 404, () => request(site.url).get(`${OAUTH}/nothing`)],
    ['an unknown address of the open API', 404, () => request(site.url).post('/api/open/nothing').send({})],
    ['an unknown address anywhere', 404, () => request(site.url).get('/no/such/page')],
    ['another method', 405, () => request(site.url).put(`${OAUTH}/token`)],
    ['another method of authorize', 405, () => request(site.url).delete(`${OAUTH}/authorize`)],
    ['no login', 401, () => request(site.url).get(`${OAUTH}/authorize`).query({ client_id: 'x', redirect_uri: 'y' })],
    ['no login for a confirmation', 401, () => json(`${OAUTH}/authorize`, '{}')],
    ['malformed JSON', 400, () => json(`${OAUTH}/token`, '{"grant_type":')],
    ['JSON that is no object', 400, () => json(`${OAUTH}/token`, '[1]')],
    ['a body that is too large', 413, () => json(`${OAUTH}/token`, big)],
    ['a body of another type', 415, () => request(site.url).post(`${OAUTH}/token`).type('text/xml').send('<a/>')],
    ['an application without a secret', 401, () => json(`${OAUTH}/token`, '{"grant_type":"refresh_token"}')],
    ['a revocation without a secret', 401, () => json(`${OAUTH}/revoke`, '{"refresh_token":"x"}')],
    ['a path that cannot be decoded', 404, () => request(site.url).get('/api/public/openapi/%E0%A4%A')],
  ])('%s: %i in the envelope', async (_, status, send) => {
    const answer = await send();
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json; charset=utf-8']);
    expect(answer.body).toMatchObject({
      success: false,
      code: expect.stringMatching(/^(?:[A-Z][A-Z_]+|\d{3})$/) as string,
      message: expect.stringMatching(/\S/) as string,
    });
  });

  it('too many logins: Retry-After in whole seconds', async () => {
    const attempt = (): request.Test =>
      request(site.url).post('/api/site/login').send({ username: 'nobody', password: 'wrong-password' });
    let answer = await attempt();
    for (let count = 0; count < 50 && answer.status !== 429; count++) answer = await attempt();
    const { retry_after_seconds: seconds } = answer.body as { retry_after_seconds: number };
    expect(answer.status).toBe(429);
    expect(Number.isInteger(seconds)).toBe(true);
    expect(answer.headers['retry-after']).toBe(String(seconds));
  });
});

describe('the paths of RFC 6749', () => {
  it.each([
    ['malformed JSON', 400, () => request(site.url).post('/oauth2/token').type('json').send('{"a":')],
    ['no client', 401, () => request(site.url).post('/oauth2/token').type('form').send('grant_type=refresh_token')],
    [
      'no client at introspection',
      401,
      () => request(site.url).post('/oauth2/introspect').type('form').send('token=x'),
    ],
  ])('%s: JSON with error', async (_, status, send) => {
    const answer = await send();
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json; charset=utf-8']);
    const { error, success } = answer.body as { error?: unknown; success?: unknown };
    expect(typeof error === 'string' || success === false).toBe(true);
  });
});

describe('ids that no row can have', () => {
  const far = '9223372036854775808';
  it.each([
    ['get', `/api/site/admin/risk/${far}`],
    ['post', `/api/site/admin/risk/-${far}/reset`],
    ['get', `/api/site/admin/users/${far}`],
    ['delete', `/api/site/sessions/${far}`],
    ['delete', `/api/site/keys/${far}`],
  ] as const)('%s %s: 404', async (method, path) => {
    const answer = await request(site.url)[method](path).set('Cookie', cookie);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([404, '404']);
  });

  it('limits of 0 are refused; null means no limit', async () => {
    const answer = await request(site.url)
      .put('/api/site/admin/quota-profiles/none')
      .set('Cookie', cookie)
      .send({ app_per_minute: 0 });
    expect(answer.status).toBe(400);
  });
});

describe('the interface description', () => {
  it('names the credentials of each operation', async () => {
    const { body } = await request(site.url).get('/api/open/openapi.json');
    const { paths, components } = body as Description;
    expect(components.securitySchemes).toMatchObject({
      api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
      session: { type: 'apiKey', in: 'cookie' },
    });
    const open = Object.entries(paths).filter(([path]) => path.startsWith('/api/open/'));
    const operations = open.flatMap(([, methods]) => Object.values(methods));
    expect(operations.length).toBeGreaterThanOrEqual(15);
    for (const operation of operations) {
      expect(operation.security).toEqual(
        expect.arrayContaining([{ api_key: [] }, { api_key: [], bearer: [] }, { bearer: [] }]),
      );
    }
    const authorize = paths[`${OAUTH}/authorize`];
    expect(authorize?.['get']?.security).toEqual([{ session: [] }]);
    expect(authorize?.['post']?.security).toEqual([{ session: [] }]);
    for (const name of ['token', 'revoke'])
      expect(paths[`${OAUTH}/${name}`]?.['post']?.security).toEqual([{ api_key: [] }]);
  });
});
