import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GeoDatabaseView, GeoStatus, GeoUpdateResult } from '@gatehouse/contracts';
import { asnFile, countryFile, geositeFile, waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readBundledCountryFile } from '@gatehouse/geo';
import { GeoLibrary } from '../src/geo/geo-library.js';
import { GeoStore } from '../src/geo/geo-store.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

type Reply = (request: IncomingMessage, response: ServerResponse) => void;
const files = new Map<string, Reply>();
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  const reply = files.get(request.url ?? '');
  if (reply) reply(request, response);
  else response.writeHead(404).end();
});
const home = mkdtempSync(join(tmpdir(), 'geo-test-'));
let base: string;
let gateway: Gateway;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = await startGateway({ GATEHOUSE_HOME: home });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(async () => {
  files.clear();
  requests.length = 0;
  await set({
    'geo.allow_private': 'true',
    'geo.country_url': `${base}/country`,
    'geo.asn_url': '',
    'geo.geosite_url': '',
  });
});

async function set(settings: Record<string, string>): Promise<void> {
  expect((await gateway.call('PUT', '/settings', settings)).status).toBe(200);
}
const serve = (path: string, content: Buffer, headers: Record<string, string> = {}): void =>
  void files.set(path, (request, response) => {
    const etag = headers['etag'];
    if (etag !== undefined && request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, headers).end(content);
  });
async function update(body?: unknown): Promise<GeoUpdateResult> {
  const answer = await gateway.call<GeoUpdateResult>('POST', '/system/geo/update', body);
  expect(answer.status).toBe(200);
  return answer.body;
}
const status = async (): Promise<GeoStatus> => (await gateway.call<GeoStatus>('GET', '/system/geo')).body;
const database = async (name: string): Promise<GeoDatabaseView> =>
  (await status()).databases.find((each) => each.name === name)!;
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const library = (): GeoLibrary => gateway.app.app.get(GeoLibrary, { strict: false });
const onDisk = (): string[] => (existsSync(join(home, 'geo')) ? readdirSync(join(home, 'geo')) : []);

describe('before any update', () => {
  it('has the bundled countries and reports what is missing', async () => {
    const bundled = readBundledCountryFile();
    expect(await status()).toMatchObject({
      auto_update: true,
      interval_hours: 24,
      next_update_at: expect.stringMatching(/Z$/),
      updating: false,
      databases: [
        {
          name: 'country',
          file: null,
          format: 'mmdb',
          status: 'ok',
          size_bytes: bundled.length,
          sha256: sha256(bundled),
          source_url: null,
        },
        { name: 'asn', file: null, status: 'missing', error: null },
        { name: 'geosite', file: null, status: 'missing', error: null },
      ],
    });
    await set({ 'geo.auto_update': 'false' });
    expect(await status()).toMatchObject({ auto_update: false, next_update_at: null });
    await set({ 'geo.auto_update': 'true' });
  });
});

describe('POST /system/geo/update', () => {
  it('brings new files to the disk, the service and the kernel', async () => {
    const country = countryFile({ '192.0.2.0/24': 'AQ' });
    const asn = asnFile({ '192.0.2.0/24': 64_500 });
    const sites = geositeFile({ test: ['full:site.example'] });
    serve('/country', country, { etag: '"c1"', 'last-modified': 'Fri, 20 Nov 2026 00:00:00 GMT' });
    serve('/asn', asn);
    serve('/sites', sites);
    await set({ 'geo.asn_url': `${base}/asn`, 'geo.geosite_url': `${base}/sites` });
    expect(await update()).toEqual({
      updated: ['country', 'asn', 'geosite'],
      not_modified: [],
      failed: [],
      duration_ms: expect.any(Number),
      via: 'direct',
    });
    expect(await database('country')).toMatchObject({
      file: 'country.mmdb',
      format: 'mmdb',
      database_type: expect.any(String),
      build_time: expect.stringMatching(/Z$/),
      entries: expect.any(Number),
      size_bytes: country.length,
      sha256: sha256(country),
      source_url: `${base}/country`,
      etag: '"c1"',
      last_modified: 'Fri, 20 Nov 2026 00:00:00 GMT',
      updated_at: expect.stringMatching(/Z$/),
      checked_at: expect.stringMatching(/Z$/),
      status: 'ok',
      error: null,
    });
    expect(readFileSync(join(home, 'geo', 'country.mmdb')).equals(country)).toBe(true);
    expect(onDisk().toSorted()).toEqual(['asn.mmdb', 'country.mmdb', 'geosite.dat']);
    expect(library().country('192.0.2.1')).toBe('AQ');
    expect(library().asn('192.0.2.1')).toBe(64_500);
    expect(library().site('test')).toEqual(['DOMAIN,site.example']);

    await gateway.call('POST', '/rules', { type: 'GEOIP', payload: 'AQ', target: 'REJECT' });
    await gateway.call('POST', '/rules', { type: 'GEOSITE', payload: 'test', target: 'REJECT' });
    await gateway.call('POST', '/rules', { type: 'IP-ASN', payload: '64500', target: 'REJECT' });
    const hit = async (url: string): Promise<string | undefined> =>
      (await gateway.call('POST', '/rules/test', { url })).body.rule?.type;
    await waitFor(async () => (await hit('http://192.0.2.1/')) === 'GEOIP');
    await waitFor(async () => (await hit('http://site.example/')) === 'GEOSITE');
  });

  it('fetches only changed files, unless forced to fetch all', async () => {
    const country = countryFile({ '192.0.2.0/24': 'AR' });
    serve('/country', country, { etag: '"a"' });
    expect((await update({ force: true })).updated).toEqual(['country']);
    const before = await database('country');
    expect(await update({})).toMatchObject({ updated: [], not_modified: ['country'], via: 'direct' });
    expect(requests.filter(({ url }) => url === '/country').at(-1)?.headers['if-none-match']).toBe('"a"');
    const after = await database('country');
    expect(after.updated_at).toBe(before.updated_at);
    expect(after.checked_at! > before.checked_at!).toBe(true);
    requests.length = 0;
    expect((await update({ force: true })).updated).toEqual(['country']);
    expect(requests[0]?.headers['if-none-match']).toBeUndefined();
  });

  it('recognises equal content without validators', async () => {
    serve('/country', countryFile({ '192.0.2.0/24': 'AS' }));
    await update();
    expect((await update()).not_modified).toEqual(['country']);
  });

  it('uses the next mirror if one fails', async () => {
    const country = countryFile({ '192.0.2.0/24': 'AT' });
    serve('/bad', Buffer.from('<html>'));
    serve('/good', country);
    await set({ 'geo.country_url': `${base}/missing, ${base}/bad ${base}/good` });
    expect((await update()).updated).toEqual(['country']);
    expect(await database('country')).toMatchObject({
      source_url: `${base}/good`,
      sha256: sha256(country),
      status: 'ok',
    });
  });

  it.each(['.sha256sum', '.sha256'])('checks the file against the checksum in %s', async (suffix) => {
    const country = countryFile({ '192.0.2.0/24': suffix === '.sha256' ? 'AU' : 'AW' });
    serve('/country', country);
    serve(`/country${suffix}`, Buffer.from(`${'0'.repeat(64)}  country.mmdb\n`));
    const refused = await update();
    expect(refused.failed).toEqual([{ name: 'country', error: expect.stringContaining('checksum') }]);
    serve(`/country${suffix}`, Buffer.from(`${sha256(country).toUpperCase()}  country.mmdb\n`));
    expect((await update()).updated).toEqual(['country']);
  });

  it.each<[string, (good: Buffer) => Buffer]>([
    ['an empty file', () => Buffer.alloc(0)],
    ['a page', () => Buffer.from('<!doctype html><title>Sign in</title>')],
    ['a file cut in half', (good) => good.subarray(0, good.length / 2)],
    ['a file without its beginning', (good) => good.subarray(good.length / 3)],
    ['a database of another type', () => asnFile({ '192.0.2.0/24': 1 })],
    ['noise', () => Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7919) % 251))],
  ])('keeps the present file when it gets %s', async (_what, spoil) => {
    const good = countryFile({ '192.0.2.0/24': 'AX' });
    serve('/country', good);
    await update({ force: true });
    const before = await database('country');
    serve('/country', spoil(good));
    const result = await update();
    expect(result).toMatchObject({
      updated: [],
      not_modified: [],
      failed: [{ name: 'country', error: expect.any(String) }],
    });
    expect(await database('country')).toMatchObject({
      sha256: before.sha256,
      updated_at: before.updated_at,
      status: 'error',
      error: expect.any(String),
    });
    expect(readFileSync(join(home, 'geo', 'country.mmdb')).equals(good)).toBe(true);
    expect(onDisk().some((name) => name.endsWith('.part'))).toBe(false);
    expect(library().country('192.0.2.1')).toBe('AX');
    serve('/country', good);
    await update();
    expect(await database('country')).toMatchObject({ status: 'ok', error: null });
  });

  it('reports why a download failed, without the query of its URL', async () => {
    files.set('/country?token=GEO-SECRET', (_request, response) => response.writeHead(503).end());
    await set({ 'geo.country_url': `${base}/country?token=GEO-SECRET` });
    const { failed } = await update();
    expect(failed[0]?.error).toContain('503');
    expect(JSON.stringify([failed, await status()])).not.toContain('GEO-SECRET');
  });

  it('does not use private addresses unless allowed', async () => {
    serve('/country', countryFile({ '192.0.2.0/24': 'AZ' }));
    await set({ 'geo.allow_private': 'false' });
    expect((await update()).failed[0]?.error).toContain('geo.allow_private');
    expect(requests).toEqual([]);
  });

  it('goes through the kernel if the network blocks it', async () => {
    const country = countryFile({ '192.0.2.0/24': 'BA' });
    // The first connection is broken, as by a filter; the one through the proxy is not.
    let broken = 0;
    files.set('/country', (request, response) => {
      if (broken++ === 0) request.socket.destroy();
      else response.end(country);
    });
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'DIRECT' });
    expect(await update()).toMatchObject({ updated: ['country'], via: 'proxy' });
  });

  it('runs once at a time', async () => {
    let release: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      files.set('/country', (_request, response) => {
        release = () => response.end(countryFile({ '192.0.2.0/24': 'BB' }));
        resolve();
      });
    });
    const first = update();
    await asked;
    expect(await status()).toMatchObject({ updating: true });
    const second = await gateway.call('POST', '/system/geo/update');
    expect(second).toMatchObject({ status: 409, body: { code: 'GEO_UPDATE_RUNNING' } });
    release();
    expect((await first).updated).toEqual(['country']);
    expect(await status()).toMatchObject({ updating: false });
  });

  it.each([[{ force: 'yes' }], [{ force: null }], [{ other: 1 }]])('refuses %j', async (body) => {
    expect((await gateway.call('POST', '/system/geo/update', body)).status).toBe(400);
  });

  it('needs more than the scope read', async () => {
    const { body } = await gateway.call('POST', '/api-keys', { scopes: ['read'] });
    const asReader = { authorization: `Bearer ${body.key}` };
    expect((await gateway.call('POST', '/system/geo/update', {}, asReader)).status).toBe(403);
    expect((await gateway.call('GET', '/system/geo', undefined, asReader)).status).toBe(200);
  });

  it('shows readers no token of a mirror', async () => {
    const country = countryFile({ '192.0.2.0/24': 'BD' });
    serve('/PATH-SECRET?token=GEO-SECRET', country);
    serve('/PATH-SECRET.sha256sum?token=GEO-SECRET', Buffer.from(`${sha256(country)}\n`));
    await set({ 'geo.country_url': `${base}/PATH-SECRET?token=GEO-SECRET` });
    expect((await update()).updated).toEqual(['country']);
    const { body } = await gateway.call('POST', '/api-keys', { scopes: ['read'] });
    const shown = await gateway.call('GET', '/system/geo', undefined, { authorization: `Bearer ${body.key}` });
    expect(JSON.stringify(shown.body)).not.toMatch(/SECRET/);
    expect((await database('country')).source_url).toContain('GEO-SECRET');
  });
});

describe('other processes', () => {
  it('get them again after a restart: the kernel', async () => {
    serve('/country', countryFile({ '192.0.2.0/24': 'AQ' }));
    serve('/asn', asnFile({ '198.51.100.0/24': 64_501 }));
    await set({ 'geo.asn_url': `${base}/asn` });
    await update({ force: true });
    await gateway.call('POST', '/rules', { type: 'IP-ASN', payload: '64501', target: 'REJECT' });
    const hit = async (url: string): Promise<string | undefined> =>
      (await gateway.call('POST', '/rules/test', { url })).body.rule?.type;
    await waitFor(async () => (await hit('http://198.51.100.1/')) === 'IP-ASN');
    const { pid } = (await gateway.call('GET', '/system/status')).body.kernel;
    process.kill(pid, 'SIGKILL');
    await waitFor(async () => (await hit('http://198.51.100.1/')) === 'IP-ASN');
    await waitFor(async () => (await hit('http://192.0.2.1/')) === 'GEOIP');
    const after = (await gateway.call('GET', '/system/status')).body.kernel;
    expect(after.pid).not.toBe(pid);
  });

  it('get what one of them has downloaded, and repair a damaged file', async () => {
    const country = countryFile({ '192.0.2.0/24': 'BE' });
    const store = gateway.app.app.get(GeoStore, { strict: false });
    const facts = { format: 'mmdb' as const, databaseType: 'x', buildTime: null, entries: 1 };
    await store.replace(
      'country',
      { content: country, sha256: sha256(country), facts },
      { url: `${base}/x`, etag: null, lastModified: null },
    );
    await waitFor(() => library().country('192.0.2.1') === 'BE');
    expect(readFileSync(join(home, 'geo', 'country.mmdb')).equals(country)).toBe(true);
  });

  it('give up on an update whose process died', async () => {
    const store = gateway.app.app.get(GeoStore, { strict: false });
    const claim = await store.claim();
    expect(claim).not.toBeNull();
    expect(await store.claim()).toBeNull();
    await gateway.app.app.get(DataSource).query(`UPDATE geo_updates SET running_since = now() - interval '1 hour'`);
    const next = await store.claim();
    expect(next).not.toBeNull();
    await store.release(next!);
  });
});
