import * as oauth from 'oauth4webapi';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

/** The issuer of a service without RESOURCE_SHARING_PUBLIC_URL. */
const ISSUER = 'http://127.0.0.1:8081';

let site: SiteApp;
let people: ThirdParty;
let television: RegisteredApp;
let server: oauth.AuthorizationServer;
let options: object;

beforeAll(async () => {
  site = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1,::1', API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
  television = await people.register((await people.user()).id, { kind: 'native', name: 'Television' });
  options = {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: RequestInit) => fetch(url.replace(ISSUER, site.url), init),
  };
  const issuer = new URL(ISSUER);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  server = await oauth.processDiscoveryResponse(issuer, found);
});
afterAll(() => site.close());

const client = (): oauth.Client => ({ client_id: television.clientId });

async function begin(scope = 'meta query'): Promise<oauth.DeviceAuthorizationResponse> {
  const answer = await oauth.deviceAuthorizationRequest(server, client(), oauth.None(), { scope }, options);
  return oauth.processDeviceAuthorizationResponse(server, client(), answer);
}

/** Tokens, or the name of the error. */
async function poll(deviceCode: string): Promise<oauth.TokenEndpointResponse | string> {
  try {
    const answer = await oauth.deviceCodeGrantRequest(server, client(), oauth.None(), deviceCode, options);
    return await oauth.processDeviceCodeResponse(server, client(), answer);
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) return error.error;
    throw error;
  }
}

/** Lets the device ask again at once, as when it has waited. */
const waited = (): Promise<unknown> =>
  people.sql.query("UPDATE device_codes SET polled_at = now() - interval '1 hour'");

async function member(): Promise<{ id: number; reader: PageReader }> {
  const { id, name } = await people.user();
  const reader = new PageReader(site.url);
  await reader.logIn(name, PASSWORD);
  return { id, reader };
}

async function decide(reader: PageReader, userCode: string, decision: 'allow' | 'deny'): Promise<void> {
  await reader.get('/device');
  await reader.submit('/device', { user_code: userCode });
  await reader.follow();
  await reader.submit('/device/confirm', { decision, scope: ['meta', 'query'] });
}

describe('a device without a browser (RFC 8628)', () => {
  it('finds everything in the metadata', () => {
    expect(server).toMatchObject({
      device_authorization_endpoint: `${ISSUER}/oauth2/device_authorization`,
      grant_types_supported: expect.arrayContaining(['urn:ietf:params:oauth:grant-type:device_code']),
    });
  });

  it('waits until its user allows it on a page, and gets tokens once', async () => {
    const device = await begin();
    expect(device).toMatchObject({ verification_uri: `${ISSUER}/device`, expires_in: 600, interval: 5 });
    expect(device.user_code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    expect(device.verification_uri_complete).toBe(`${ISSUER}/device?user_code=${device.user_code}`);
    expect(await poll(device.device_code)).toBe('authorization_pending');
    expect(await poll(device.device_code)).toBe('slow_down');
    await people.sql.query("UPDATE device_codes SET polled_at = now() - interval '7 seconds'");
    // Once too early, the interval is longer for good.
    expect(await poll(device.device_code)).toBe('slow_down');

    const { reader } = await member();
    await reader.get(`/device?user_code=${device.user_code}`);
    expect(reader.page).toContain(`value="${device.user_code}"`);
    // As people type it.
    await reader.submit('/device', { user_code: device.user_code.toLowerCase().replace('-', ' ') });
    await reader.follow();
    expect(reader.text).toContain('Allow Television on a device?');
    expect(reader.text).toContain(`shows ${device.user_code}`);
    expect(reader.text).toContain('If someone sent you this code or a link');
    await reader.submit('/device/confirm', { decision: 'allow', scope: 'meta' });
    await reader.follow();
    expect(reader.text).toContain('The device is connected.');

    const tokens = await poll(device.device_code);
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'meta', refresh_token: expect.any(String) });
    const access = (tokens as oauth.TokenEndpointResponse).access_token;
    expect((await people.probe('meta', television.secret, access)).status).toBe(200);
    expect((await people.probe('query', television.secret, access)).body).toMatchObject({
      code: 'USER_SCOPE_NOT_ALLOWED',
    });
    expect(await poll(device.device_code)).toBe('invalid_grant');
    await reader.get('/authorized');
    expect(reader.text).toContain('Television');
  });

  it('is denied by its user', async () => {
    const device = await begin();
    const { reader } = await member();
    await decide(reader, device.user_code, 'deny');
    expect(await poll(device.device_code)).toBe('access_denied');
    // A code is decided once.
    await reader.get('/device');
    await reader.submit('/device', { user_code: device.user_code });
    expect([reader.last?.status, reader.text]).toEqual([400, expect.stringContaining('is not known, has expired')]);
  });

  it('has ten minutes', async () => {
    const device = await begin();
    await people.sql.query('UPDATE device_codes SET expires_at = now() WHERE grant_id IS NULL');
    expect(await poll(device.device_code)).toBe('expired_token');
    const { reader } = await member();
    await reader.get('/device');
    await reader.submit('/device', { user_code: device.user_code });
    expect(reader.last?.status).toBe(400);
  });

  it('gets nothing with the code of another application, with a guess, or after its user has gone', async () => {
    const device = await begin();
    const { id, reader } = await member();
    await decide(reader, device.user_code, 'allow');
    const other = await people.register((await people.user()).id, { kind: 'native' });
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.device_code };
    const stolen = await request(site.url)
      .post('/oauth2/token')
      .type('form')
      .send({ ...grant, client_id: other.clientId });
    expect([stolen.status, stolen.body]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
    expect(await poll('hdc_guess')).toBe('invalid_grant');
    await people.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [id]);
    await waited();
    expect(await poll(device.device_code)).toBe('invalid_grant');
  });

  it('is refused without the application, or with a scope that it is not allowed', async () => {
    const send = (body: object): request.Test =>
      request(site.url).post('/oauth2/device_authorization').type('form').send(body);
    expect((await send({})).body).toMatchObject({ error: 'invalid_client' });
    expect((await send({ client_id: television.clientId, scope: 'all' })).body).toMatchObject({
      error: 'invalid_scope',
    });
  });

  it('has codes that cannot be read in the database', async () => {
    const device = await begin();
    const rows = JSON.stringify(await people.sql.query('SELECT to_jsonb(d) AS row FROM device_codes d'));
    for (const code of [device.device_code, device.user_code]) expect(rows).not.toContain(code);
  });
});

describe('the page for the code', () => {
  it('needs a login, and comes back to the code', async () => {
    const reader = new PageReader(site.url);
    await reader.get('/device?user_code=BCDF-GHJK');
    expect(reader.location).toBe('/login?return_to=%2Fdevice%3Fuser_code%3DBCDF-GHJK');
  });

  it('takes thirty codes an hour of one account', async () => {
    const { reader } = await member();
    await reader.get('/device');
    for (let count = 0; count < 30; count++) {
      await reader.submit('/device', { user_code: 'BCDF-GHJK' });
      expect(reader.last?.status).toBe(400);
    }
    const device = await begin();
    await reader.submit('/device', { user_code: device.user_code });
    expect(reader.last?.status).toBe(429);
    const { reader: other } = await member();
    await decide(other, device.user_code, 'allow');
    expect(await poll(device.device_code)).toHaveProperty('access_token');
  });

  it('serves only test users before the application is reviewed', async () => {
    const owner = await people.user();
    const raw = await people.register(owner.id, { kind: 'native' }, { reviewed: false });
    const answer = await request(site.url)
      .post('/oauth2/device_authorization')
      .type('form')
      .send({ client_id: raw.clientId, scope: 'meta' });
    const { user_code: userCode } = answer.body as { user_code: string };
    const { reader } = await member();
    await reader.get('/device');
    await reader.submit('/device', { user_code: userCode });
    expect(reader.last?.status).toBe(403);
  });
});
