import { promises as dns, type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { Socket, type AddressInfo, type LookupFunction } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { startAliasServer, startNameServer } from './support/name-server.js';

/** A public address; connections to it are led to a server on loopback. */
const PUBLIC = '8.8.8.8';
const PRIVATE = '127.0.0.1';

let gateway: Gateway;
/** Nothing may reach this server. */
let inside: Server;
/** A server on the Internet. */
let outside: Server;
let insideConnections = 0;
let outsidePaths: string[] = [];
let answerOutside: RequestListener;
/**
 * The system resolver's answers for each name, one after the other, the last one for good; without any the name does
 * not exist.
 */
let answers: Record<string, string[][]> = {};

beforeAll(async () => {
  inside = await serve((_request, response) => void response.end('inside'));
  inside.on('connection', () => (insideConnections += 1));
  outside = await serve((request, response) => {
    outsidePaths.push(request.url ?? '');
    response.setHeader('connection', 'close');
    answerOutside(request, response);
  });
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [inside, outside]) server.close().closeAllConnections();
});
beforeEach(async () => {
  vi.spyOn(dns, 'lookup').mockImplementation(resolveByTable as never);
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(connectToTheInternet);
  answers = {};
  insideConnections = 0;
  outsidePaths = [];
  await set({ 'geo.asn_url': '', 'geo.geosite_url': '', 'geo.allow_private': 'false' });
});
afterEach(() => set({ 'dns.nameservers': '' }));

async function serve(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, PRIVATE);
  await once(server, 'listening');
  return server;
}

const at = (host: string, server: Server): string => `http://${host}:${(server.address() as AddressInfo).port}/file`;

async function set(settings: Record<string, string>): Promise<void> {
  const { status, body } = await gateway.call('PUT', '/settings', settings);
  expect(status, JSON.stringify(body)).toBe(200);
}

function resolveByTable(host: string): Promise<LookupAddress[]> {
  const [next = [], ...later] = answers[host] ?? [];
  if (later.length > 0) answers[host] = later;
  if (next.length > 0) return Promise.resolve(next.map((address) => ({ address, family: 4 })));
  return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }));
}

// oxlint-disable-next-line unbound-method -- always applied to a socket
const connectOf = Socket.prototype.connect;

/** Leads connections to looked-up public addresses to loopback, after the service's own check. */
function connectToTheInternet(this: Socket, ...values: unknown[]): Socket {
  const [options] = (Array.isArray(values[0]) ? values[0] : values) as [{ lookup?: LookupFunction }];
  const { lookup } = options;
  if (lookup !== undefined) {
    options.lookup = (host, wanted, done) =>
      lookup(host, wanted, (error, found, family) => {
        const moved = Array.isArray(found)
          ? found.map((one) => (one.address === PUBLIC ? { ...one, address: PRIVATE } : one))
          : found === PUBLIC
            ? PRIVATE
            : found;
        done(error, moved as string, family);
      });
  }
  return Reflect.apply(connectOf, this, values) as Socket;
}

/** Fetches an address in one of the service's ways, and returns why it was refused; null if it was not. */
type Entry = (url: string, allowPrivate?: boolean) => Promise<string | null>;

async function fetchBy(path: string, body: object): Promise<string | null> {
  const made = await gateway.call('POST', path, { name: 'hostile', enabled: false, ...body });
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 });
  const { status, body: result } = await gateway.call('POST', `${path}/${made.body.id}/refresh`);
  expect((await gateway.call('DELETE', `${path}/${made.body.id}`)).status).toBe(200);
  expect(status, JSON.stringify(result)).toBe(200);
  return result.reason ?? result.message ?? null;
}

const ENTRIES: [string, Entry][] = [
  ['subscriptions', (url, allow_private = false) => fetchBy('/subscriptions', { url, allow_private })],
  [
    'rule sets',
    (url, allow_private = false) =>
      fetchBy('/rule-sets', { url, allow_private, type: 'http', behavior: 'domain', format: 'text' }),
  ],
  [
    'databases of countries',
    async (url, allowPrivate = false) => {
      await set({ 'geo.country_url': url, 'geo.allow_private': String(allowPrivate) });
      const { status, body } = await gateway.call('POST', '/system/geo/update', { force: true });
      expect(status, JSON.stringify(body)).toBe(200);
      return body.failed.length === 0 ? null : JSON.stringify(body.failed);
    },
  ],
];
const REFUSED = /blocked_address|private or reserved/;

describe.each(ENTRIES)('%s', (name, fetchFrom) => {
  it('reach a server of this machine if allowed', async () => {
    await fetchFrom(at(PRIVATE, inside), true);
    expect(insideConnections).toBeGreaterThan(0);
  });

  it.each([
    'localhost.',
    'foo.localhost',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '[::ffff:127.0.0.1]',
    'private.example',
    'mixed.example',
  ])('do not dial %s', async (host) => {
    answers = { 'private.example': [[PRIVATE]], 'mixed.example': [[PUBLIC, PRIVATE]] };
    expect(await fetchFrom(at(host, inside))).toMatch(REFUSED);
    expect(insideConnections).toBe(0);
  });

  it.each(['localhost.', 'private.example'])('do not follow to %s', async (host) => {
    answers = { 'outside.example': [[PUBLIC]], 'private.example': [[PRIVATE]] };
    answerOutside = (_request, response) => void response.writeHead(302, { location: at(host, inside) }).end();
    expect(await fetchFrom(at('outside.example', outside))).toMatch(REFUSED);
    expect([outsidePaths, insideConnections]).toEqual([['/file'], 0]);
  });

  it('do not dial the second answer of a name if it differs', async () => {
    answers = { 'rebinding.example': [[PUBLIC], [PRIVATE]] };
    answerOutside = (_request, response) => void response.writeHead(302, { location: '/again' }).end();
    expect(await fetchFrom(at('rebinding.example', outside))).toMatch(REFUSED);
    expect(outsidePaths).toEqual(['/file']);
  });

  describe('through the kernel, which alone can resolve a name', () => {
    it.each([
      ['of a private address', () => startNameServer({ 'hidden.example': [PRIVATE] })],
      ['that is an alias of a private one', () => startAliasServer('other.example', PRIVATE)],
    ])('do not dial one %s', async (_what, start) => {
      await using server = await start();
      await set({ 'dns.nameservers': server.address });
      await waitFor(() => gateway.kernel.config?.dns?.nameservers?.includes(server.address));
      // Rule sets never go through the kernel, so the name has no address for them.
      expect(await fetchFrom(at('hidden.example', inside))).not.toBeNull();
      expect(insideConnections).toBe(0);
      await fetchFrom(at('hidden.example', inside), true);
      expect(insideConnections > 0).toBe(name !== 'rule sets');
    });
  });
});
