import { randomBytes } from 'node:crypto';
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ApiClient } from '../tour/api-client.js';
import { fetchThrough, type Entry, type ProxyAddress } from '../tour/proxy-client.js';
import { andClean, ensure, refused, type Attack } from './attack.js';

export interface ProxyPlaces {
  /** Logged in as the administrator. */
  api: ApiClient;
  /** Without a path. */
  base: string;
  proxy: ProxyAddress;
  /** Host and port of each of the platform's own listeners. */
  own: readonly { name: string; host: string; port: number }[];
  /** The database, and Redis where there is one. */
  stores: readonly URL[];
}

/** Attacks on proxy-gateway and its kernel. */
export function proxyAttacks(places: ProxyPlaces): Attack[] {
  return [
    { name: 'the API through the proxy, by every entry and spelling', run: () => reachOwnServices(places) },
    { name: 'the database through the proxy', run: () => reachStores(places) },
    { name: 'an open API beside a proxy that others reach', run: () => openBoth(places) },
    { name: 'a subscription that leads to this machine', run: () => fetchFromInside(places, subscribe) },
    { name: 'a rule set that leads to this machine', run: () => fetchFromInside(places, addRuleSet) },
    { name: 'an API key that makes another, or changes who logs in', run: () => outliveKey(places) },
    { name: 'administration of the proxy that leaves no trace', run: () => traceOfKeys(places) },
  ];
}

const ENTRIES: readonly Entry[] = ['http', 'connect', 'socks5'];

async function reachOwnServices({ proxy, own }: ProxyPlaces): Promise<string> {
  let tried = 0;
  for (const { name, port } of own) {
    for (const host of ['127.0.0.1', 'localhost', '127.1.2.3', '0.0.0.0']) {
      for (const entry of ENTRIES) {
        tried += 1;
        const reached = await through(entry, proxy, new URL(`http://${host}:${port}/healthz`));
        ensure(!reached, `${name} answers at ${host}:${port} through the proxy (${entry})`);
      }
    }
  }
  return `${tried} ways to ${own.length} listeners, none leads there`;
}

/** Whether the target itself answered: what the proxy answers in its place is a 4xx or 5xx, or a refusal. */
async function through(entry: Entry, proxy: ProxyAddress, target: URL): Promise<boolean> {
  try {
    return (await fetchThrough(entry, proxy, target)).status < 400;
  } catch {
    return false;
  }
}

async function reachStores({ proxy, stores }: ProxyPlaces): Promise<string> {
  for (const { hostname, port } of stores) {
    for (const host of new Set([hostname, '127.0.0.1', 'localhost', '0.0.0.0'])) {
      const status = await connectStatus(proxy, `${host}:${port}`);
      ensure(status >= 400, `CONNECT ${host}:${port} is answered ${status}`);
    }
  }
  return `${stores.length} of ${stores.map(({ protocol }) => protocol.replace(':', '')).join(' and ')}, by every name`;
}

function connectStatus({ host, port }: ProxyAddress, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(30_000);
    const asked = request({ host, port, method: 'CONNECT', path: target, headers: { host: target }, signal });
    asked.on('connect', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve(statusCode);
    });
    asked.on('error', reject).end();
  });
}

async function openBoth({ api }: ProxyPlaces): Promise<string> {
  const before = await api.call<Record<string, string>>('GET', '/settings');
  const put = (settings: Record<string, string>): Promise<unknown> => api.call('PUT', '/settings', settings);
  const restore = (): Promise<unknown> =>
    put({
      'kernel.allow_lan': String(before['kernel.allow_lan']),
      'auth.enabled': String(before['auth.enabled']),
    });
  return andClean(async () => {
    const status = await refused(
      'auth.enabled=false with kernel.allow_lan',
      put({ 'kernel.allow_lan': 'true', 'auth.enabled': 'false' }),
    );
    return `refused with ${status}`;
  }, restore);
}

/** Spellings of this machine, the network inside it, and metadata services. */
function spellings(port: number): string[] {
  const hosts =
    `127.0.0.1 localhost localhost. foo.localhost 2130706433 0x7f000001 017700000001 127.1 0.0.0.0 [::1] [::]
    [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] 169.254.169.254 168.63.129.16 [fd00:ec2::254] 10.0.0.1`.split(
      /\s+/,
    );
  return hosts.map((host) => `http://${host}:${port}/list`);
}

type AddSource = (api: ApiClient, url: string) => Promise<void>;

async function fetchFromInside({ api }: ProxyPlaces, add: AddSource): Promise<string> {
  let hits = 0;
  const server = createServer((_, response) => {
    hits += 1;
    response.end('ss://YWVzLTI1Ni1nY206cGFzcw@192.0.2.1:8388#inside');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const urls = spellings(port);
  return andClean(
    async () => {
      await Promise.all(urls.map((url) => add(api, url)));
      ensure(hits === 0, `a server on this machine was reached ${hits} times`);
      return `${urls.length} spellings, none was fetched`;
    },
    async () => server.close(),
  );
}

/** Refused at once, or fetched and failed: what counts is whether the server was asked. */
async function subscribe(api: ApiClient, url: string): Promise<void> {
  const made = await api
    .call<{ id: number }>('POST', '/subscriptions', { name: `attack ${url}`, url, enabled: false })
    .catch(() => null);
  if (made === null) return;
  await api.call('POST', `/subscriptions/${made.id}/refresh`, {}).catch(() => null);
  await api.call('DELETE', `/subscriptions/${made.id}`);
}

async function addRuleSet(api: ApiClient, url: string): Promise<void> {
  const name = `attack ${randomBytes(4).toString('hex')}`;
  const made = await api
    .call<{ id: number }>('POST', '/rule-sets', { name, type: 'http', behavior: 'domain', url })
    .catch(() => null);
  if (made === null) return;
  await api.call('POST', `/rule-sets/${made.id}/refresh`, {}).catch(() => null);
  await api.call('DELETE', `/rule-sets/${made.id}`);
}

async function traceOfKeys({ api }: ProxyPlaces): Promise<string> {
  const name = `attack ${randomBytes(4).toString('hex')}`;
  const made = await api.call<{ id: number; key: string }>('POST', '/api-keys', { name, scopes: ['read'] });
  await api.call('DELETE', `/api-keys/${made.id}`);
  const text = JSON.stringify(await api.call<unknown>('GET', '/audit-logs?limit=20'));
  ensure(text.includes(name), 'the audit log does not name a key that was made');
  ensure(!text.includes(made.key), 'the audit log holds a key');
  const verified = await api.call<{ ok: boolean }>('GET', '/audit-logs/verify');
  ensure(verified.ok, 'the chain of the audit log is broken');
  return 'making and removing a key is in the audit log, whose chain holds';
}

async function outliveKey({ api, base }: ProxyPlaces): Promise<string> {
  const body = { name: `attack ${Date.now()}`, scopes: ['read', 'write', 'admin'] };
  const made = await api.call<{ id: number; key: string }>('POST', '/api-keys', body);
  const key = ApiClient.withToken(`${base}/api/v1`, made.key);
  return andClean(
    async () => {
      await refused('an API key that makes another', key.call('POST', '/api-keys', { name: 'second' }));
      await refused('an API key that ends the login', key.call('PUT', '/settings', { 'auth.enabled': 'false' }));
      const password = { current_password: 'x', new_password: 'another password' };
      await refused('an API key that sets the password', key.call('POST', '/auth/password', password));
      return 'a key of every scope was refused each';
    },
    () => api.call('DELETE', `/api-keys/${made.id}`),
  );
}
