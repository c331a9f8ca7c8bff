import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RefreshResult } from '@gatehouse/contracts';
import { createDataSource, createSecretBox, migrate, pgPool, UnitOfWork } from '@gatehouse/persistence';
import { createTestDatabase } from '@gatehouse/testing';
import type { TestDatabase } from '@gatehouse/testing';
import { formatClashDocument, parseLink, toClashEntry } from '@gatehouse/subscription-formats';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { SERVICE } from '../src/service.js';
import type { CountryDatabase } from '../src/nodes/country-database.js';
import { NodeVault } from '../src/data/node-vault.js';
import { NodeWriter } from '../src/nodes/node-writer.js';
import { PREFERENCES } from '../src/preferences/preference-definitions.js';
import type { PreferenceKey } from '../src/preferences/preference-definitions.js';
import type { Preferences } from '../src/preferences/preferences.service.js';
import { NodeSetStore } from '../src/subscriptions/node-set.store.js';
import { RefreshSubscription } from '../src/subscriptions/refresh-subscription.js';
import type { KernelProxyAddress } from '../src/documents/kernel-proxy-address.js';
import type { TakeProfile } from '../src/profiles/take-profile.js';
import { RefreshLock } from '../src/subscriptions/refresh-lock.js';
import { ReplyReader } from '../src/subscriptions/reply-reader.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import { testParser } from './support/document-parser.js';
import { SubscriptionFetcher, type FetchProxy } from '../src/documents/subscription-fetcher.js';
import { SubscriptionEntity } from '../src/data/subscription.entity.js';

const box = createSecretBox(Buffer.alloc(32, 1));
const vault = new NodeVault(box);
const overrides: Partial<Record<PreferenceKey, unknown>> = {
  'subscription.timeout_ms': 300,
  'subscription.max_bytes': 20_000,
  'subscription.via_proxy': 'never',
};
const preferences = {
  get: (key: PreferenceKey) => overrides[key] ?? PREFERENCES[key].parse(PREFERENCES[key].defaultText),
} as Pick<Preferences, 'get'> as Preferences;
/** No subscription here brings its profile. */
const noProfiles = {} as unknown as TakeProfile;
const countries = { lookup: () => null } as unknown as CountryDatabase;

let database: TestDatabase;
let dataSource: DataSource;
let refresher: RefreshSubscription;
/** The kernel's address, if the test has a kernel. */
let proxy: FetchProxy | null = null;
/** A refresher like that of another process. */
let createRefresher: (lock: RefreshLock) => RefreshSubscription;
let reply: RequestListener;
let url: string;
const server = createServer((request, response) => reply(request, response));

beforeAll(async () => {
  Logger.overrideLogger(false);
  database = await createTestDatabase();
  dataSource = createDataSource(SERVICE.databaseConfig(database.url, 'test'));
  await migrate(dataSource);
  await dataSource.initialize();
  const writer = new NodeWriter(vault, countries);
  const proxyAddress = { find: () => Promise.resolve(proxy) } as Pick<KernelProxyAddress, 'find'> as KernelProxyAddress;
  createRefresher = (lock) =>
    new RefreshSubscription(
      new UnitOfWork(dataSource),
      lock,
      new ReplyReader(new SubscriptionFetcher(), testParser(), proxyAddress, preferences, box),
      new NodeSetStore(writer),
      preferences,
      noProfiles,
    );
  refresher = createRefresher(new RefreshLock(dataSource));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sub?token=SECRET-TOKEN`;
});

beforeEach(async () => {
  await dataSource.query('DELETE FROM subscriptions');
  await dataSource.query('DELETE FROM nodes');
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dataSource.destroy();
  await database.drop();
});

/** Advisory locks in this test's database, since the server has others. */
const OURS = `locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

async function subscribe(more: Partial<SubscriptionEntity> = {}): Promise<number> {
  const repository = dataSource.getRepository(SubscriptionEntity);
  const row = {
    name: 's',
    sealedUrl: box.seal(url, 'subscriptions'),
    type: 'auto',
    intervalSec: 3600,
    enabled: true,
    allowPrivate: true,
    ...more,
  } as const;
  return (await repository.save(repository.create(row))).id;
}

const link = (node: string, name = node): string =>
  `ss://${Buffer.from(`aes-128-gcm:pass-${node}`).toString('base64url')}@192.0.2.1:8388#${encodeURIComponent(name)}`;
const links = (...nodes: string[]): string => nodes.map((node) => link(node)).join('\n');
const answer =
  (body: string, headers: Record<string, string> = {}, status = 200): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

interface CarriedNode {
  id: number;
  name: string;
  original_name: string;
  password: string;
}

async function nodesOf(subscriptionId: number): Promise<CarriedNode[]> {
  const rows: (Omit<CarriedNode, 'password'> & { config: string })[] = await dataSource.query(
    `SELECT node.id, source.name, node.original_name, node.config FROM node_sources source
     JOIN nodes node ON node.id = source.node_id WHERE source.subscription_id = $1 ORDER BY source.position`,
    [subscriptionId],
  );
  return rows.map(({ config, ...row }) => {
    const node = vault.open({ id: row.id, config });
    return { ...row, password: 'password' in node ? String(node.password).replace('pass-', '') : '' };
  });
}

const carried = async (id: number): Promise<string[]> => (await nodesOf(id)).map(({ password }) => password);
const row = (id: number): Promise<SubscriptionEntity> =>
  dataSource.getRepository(SubscriptionEntity).findOneByOrFail({ id });

describe('a refresh', () => {
  it('takes over the provider’s list and reports the changes', async () => {
    const id = await subscribe();
    reply = answer(`${links('a', 'b')}\n${link('a', 'again')}\nss://broken\n`, {
      etag: '"v1"',
      'subscription-userinfo': 'upload=1; download=2; total=10',
      'profile-title': 'Provider',
    });
    expect(await refresher.run(id)).toMatchObject({
      status: 'updated',
      reason: null,
      http_status: 200,
      via: 'direct',
      parsed: 2,
      added: 2,
      retained: 0,
      duplicates: 1,
      skipped: 1,
      skipped_entries: [{ line: 4 }],
      traffic: { total: 10, remaining: 7 },
    } satisfies Partial<Record<keyof RefreshResult, unknown>>);
    expect(await carried(id)).toEqual(['a', 'b']);
    expect(await row(id)).toMatchObject({
      status: 'warning',
      skippedCount: 1,
      duplicateCount: 1,
      etag: '"v1"',
      lastStatusCode: 200,
      consecutiveFailures: 0,
      profile: { title: 'Provider' },
    });
  });

  it('keeps the ids of renamed nodes and of nodes whose password changed', async () => {
    const id = await subscribe();
    reply = answer([link('a', 'Tokyo'), link('b', 'Paris')].join('\n'));
    await refresher.run(id);
    const before = await nodesOf(id);
    reply = answer([link('b2', 'Paris'), link('a', 'Tokyo 2')].join('\n'));
    expect(await refresher.run(id)).toMatchObject({ status: 'updated', added: 0, updated: 1, retained: 1, removed: 0 });
    expect(await nodesOf(id)).toEqual([
      { id: before[1]!.id, name: 'Paris', original_name: 'Paris', password: 'b2' },
      { id: before[0]!.id, name: 'Tokyo 2', original_name: 'Tokyo 2', password: 'a' },
    ]);
  });

  it('deletes what the provider dropped, and keeps names that users gave to the rest', async () => {
    const id = await subscribe();
    reply = answer(links('a', 'b'));
    await refresher.run(id);
    await dataSource.query(`UPDATE nodes SET custom_name = 'mine', country = 'JP', country_source = 'manual'`);
    reply = answer(link('a', 'new name'));
    expect(await refresher.run(id)).toMatchObject({ removed: 1, retained: 1 });
    const rows = await dataSource.query('SELECT custom_name, original_name, country, country_source FROM nodes');
    expect(rows).toEqual([{ custom_name: 'mine', original_name: 'new name', country: 'JP', country_source: 'manual' }]);
  });

  it('shares a node between subscriptions and keeps it while one of them contains it', async () => {
    const first = await subscribe();
    const second = await subscribe();
    reply = answer(links('a', 'shared'));
    await refresher.run(first);
    reply = answer(link('shared', 'called otherwise'));
    expect(await refresher.run(second)).toMatchObject({ added: 1 });
    expect((await nodesOf(second))[0]).toMatchObject({ id: (await nodesOf(first))[1]!.id, original_name: 'shared' });
    reply = answer(links('a'));
    expect(await refresher.run(first)).toMatchObject({ removed: 1 });
    expect(await carried(second)).toEqual(['shared']);
    const [{ count }] = await dataSource.query('SELECT count(*)::int AS count FROM nodes');
    expect(count).toBe(2);
  });

  it('asks conditionally, and only after a reply that was used', async () => {
    const id = await subscribe();
    const seen: (string | undefined)[] = [];
    const tagged =
      (body: string, etag: string): RequestListener =>
      (request, response) => {
        seen.push(request.headers['if-none-match']);
        if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
        else response.setHeader('etag', etag).end(body);
      };
    reply = tagged(links('a'), '"1"');
    await refresher.run(id);
    expect(await refresher.run(id)).toMatchObject({ status: 'not_modified', http_status: 304, retained: 1 });
    reply = tagged('<html>please log in</html>', '"2"');
    expect(await refresher.run(id)).toMatchObject({ status: 'kept_previous', reason: 'html_response' });
    await refresher.run(id);
    // Each HTML page is followed by a request with the other user agent, for which no validator is known.
    expect(seen).toEqual([undefined, '"1"', '"1"', undefined, '"1"', undefined]);
    expect(await refresher.run(id, true)).toMatchObject({ status: 'kept_previous' });
    expect(seen.at(-1)).toBeUndefined();
    expect(await carried(id)).toEqual(['a']);
  });

  it('uses the quota of a reply that changed nothing else', async () => {
    const id = await subscribe();
    reply = answer(links('a'), { etag: '"1"', 'subscription-userinfo': 'upload=1; download=1; total=10' });
    await refresher.run(id);
    reply = (_request, response) =>
      response.writeHead(304, { 'subscription-userinfo': 'total=10; download=5; upload=0' }).end();
    expect(await refresher.run(id)).toMatchObject({ status: 'not_modified', traffic: { remaining: 5 } });
    expect((await row(id)).traffic).toMatchObject({ total: 10, remaining: 5 });
    reply = answer('quota of an error page', { 'subscription-userinfo': 'total=1' }, 500);
    await refresher.run(id);
    expect((await row(id)).traffic).toMatchObject({ total: 10, remaining: 5 });
  });

  it('tries a user agent of the other family if the reply is unusable, and remembers which one worked', async () => {
    const id = await subscribe();
    const seen: string[] = [];
    const onlyFor =
      (family: RegExp): RequestListener =>
      (request, response) => {
        const name = request.headers['user-agent'] ?? '';
        seen.push(name.split('/')[0]!);
        response.end(family.test(name) ? links('a') : '<html><body>get our app</body></html>');
      };
    reply = onlyFor(/v2rayN/);
    expect(await refresher.run(id)).toMatchObject({ status: 'updated', added: 1 });
    expect(await refresher.run(id)).toMatchObject({ status: 'not_modified' });
    expect(seen).toEqual(['clash.meta', 'v2rayN', 'v2rayN']);
    expect((await row(id)).workingUserAgent).toMatch(/^v2rayN/);
    reply = onlyFor(/clash/);
    expect(await refresher.run(id)).toMatchObject({ status: 'not_modified' });
    expect((await row(id)).workingUserAgent).toBeNull();
    reply = onlyFor(/neither/);
    expect(await refresher.run(id)).toMatchObject({ status: 'kept_previous', reason: 'html_response' });
    expect(seen.splice(3)).toEqual(['v2rayN', 'clash.meta', 'clash.meta', 'v2rayN']);
  });

  it('goes through the kernel if the provider cannot be reached or refuses us, according to the setting', async () => {
    const id = await subscribe();
    await using through = await startUpstreamProxy();
    proxy = { url: `http://127.0.0.1:${through.port}`, guardsTargets: true };
    reply = (request, response) =>
      through.isOurs(request.socket) ? void response.end(links('a')) : void response.writeHead(403).end();
    try {
      expect(await refresher.run(id)).toMatchObject({ status: 'failed', via: 'direct', http_status: 403 });
      overrides['subscription.via_proxy'] = 'fallback';
      expect(await refresher.run(id)).toMatchObject({ status: 'updated', via: 'proxy', added: 1 });
      reply = answer(links('a', 'b'));
      expect(await refresher.run(id)).toMatchObject({ status: 'updated', via: 'direct', added: 1 });
      reply = answer('gone', {}, 410);
      const tunnels = through.targets.length;
      expect(await refresher.run(id)).toMatchObject({ status: 'failed', via: 'direct', http_status: 410 });
      expect(through.targets.length).toBe(tunnels);
      overrides['subscription.via_proxy'] = 'always';
      reply = answer(links('a', 'b', 'c'));
      expect(await refresher.run(id)).toMatchObject({ status: 'updated', via: 'proxy', added: 1 });
      proxy = null;
      expect(await refresher.run(id)).toMatchObject({ status: 'failed', reason: 'network_error', via: 'proxy' });
    } finally {
      overrides['subscription.via_proxy'] = 'never';
      proxy = null;
    }
    expect(await carried(id)).toEqual(['a', 'b', 'c']);
  });

  it('delays the next attempt while attempts fail, at most by the interval or Retry-After', async () => {
    const id = await subscribe({ intervalSec: 600 });
    reply = answer('busy', {}, 503);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      await refresher.run(id);
      const { nextRefreshAt, lastCheckedAt } = await row(id);
      waits.push(Math.round((nextRefreshAt!.getTime() - lastCheckedAt!.getTime()) / 1000));
    }
    for (const [index, most] of [60, 120, 240, 480, 600, 600].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(most * 0.8);
      expect(waits[index]).toBeLessThanOrEqual(most);
    }
    reply = answer('busy', { 'retry-after': '3600' }, 429);
    await refresher.run(id);
    expect((await row(id)).nextRefreshAt!.getTime() - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('distinguishes equal from changed content, without validators', async () => {
    const id = await subscribe();
    reply = answer(links('a'));
    await refresher.run(id);
    expect(await refresher.run(id)).toMatchObject({ status: 'not_modified', http_status: 200, retained: 1 });
  });

  it('rejects a list below keep_ratio, unless forced or from a new address', async () => {
    const id = await subscribe();
    reply = answer(links(...Array.from('abcdefghij')));
    await refresher.run(id);
    reply = answer(links('a'));
    expect(await refresher.run(id)).toMatchObject({
      status: 'kept_previous',
      reason: 'shrunk_below_threshold',
      retained: 10,
    });
    expect(await row(id)).toMatchObject({
      status: 'warning',
      lastErrorCode: 'shrunk_below_threshold',
      consecutiveFailures: 1,
    });
    expect(await refresher.run(id, true)).toMatchObject({ status: 'updated', removed: 9 });
    expect(await row(id)).toMatchObject({ status: 'ok', lastErrorCode: null, consecutiveFailures: 0 });
  });

  it('refuses loopback without allow_private and explains how to allow it', async () => {
    const id = await subscribe({ allowPrivate: false });
    reply = answer(links('a'));
    const result = await refresher.run(id);
    expect(result).toMatchObject({ status: 'failed', reason: 'blocked_address' });
    expect(result.message).toContain('allow_private');
    expect(await row(id)).toMatchObject({ status: 'error', lastErrorCode: 'blocked_address' });
  });

  it('shares one fetch and one result between concurrent requests', async () => {
    const id = await subscribe();
    let fetches = 0;
    reply = (_request, response) => {
      fetches++;
      response.end(links('a'));
    };
    const results = await Promise.all([refresher.run(id), refresher.run(id), refresher.run(id)]);
    expect([fetches, new Set(results).size]).toEqual([1, 1]);
  });

  it('runs once at a time over all processes, and shares its result with those that waited', async () => {
    const id = await subscribe();
    let fetches = 0;
    let under = 0;
    let most = 0;
    reply = (_request, response) => {
      fetches++;
      most = Math.max(most, ++under);
      setTimeout(() => {
        under--;
        response.end(links('a'));
      }, 50);
    };
    const processes = [1, 2, 3].map(() => createRefresher(new RefreshLock(dataSource)));
    const results = await Promise.all(processes.map((one) => one.run(id)));
    expect(fetches).toBe(1);
    expect(results.map(({ status, added }) => [status, added])).toEqual(Array(3).fill(['updated', 1]));
    await Promise.all([...processes.map((one) => one.run(id, true)), refresher.run(id)]);
    expect(most).toBe(1);
    const held = await dataSource.query(`SELECT count(*)::int AS n FROM pg_locks WHERE ${OURS}`);
    expect(held).toEqual([{ n: 0 }]);
  });

  it('asks the connection that holds the locks one thing at a time', async () => {
    const pool = pgPool(dataSource);
    const client = await pool.connect();
    const query = client.query.bind(client) as (text: string, values: unknown[]) => Promise<unknown>;
    let [running, most] = [0, 0];
    const watched = async (text: string, values: unknown[]): Promise<unknown> => {
      most = Math.max(most, ++running);
      return query(text, values).finally(() => running--);
    };
    // Their overloads end in callbacks, from which the type of a mock is made.
    vi.spyOn(client, 'query').mockImplementation(watched as never);
    const connect = vi.spyOn(pool, 'connect').mockImplementation((() => Promise.resolve(client)) as never);
    const lock = new RefreshLock(dataSource);
    const ids = [1, 2, 3, 4];
    expect(await Promise.all(ids.map((id) => lock.run(id, () => Promise.resolve(id))))).toEqual(ids);
    expect([connect.mock.calls.length, most, running]).toEqual([1, 1, 0]);
  });

  it('continues when the connection that holds the lock breaks', async () => {
    const id = await subscribe();
    reply = (_request, response) => {
      void dataSource
        .query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${OURS} AND granted`)
        .then(() => response.end(links('a')));
    };
    expect(await refresher.run(id)).toMatchObject({ status: 'updated', added: 1 });
    reply = answer(links('a', 'b'));
    expect(await refresher.run(id)).toMatchObject({ status: 'updated', added: 1 });
  });

  it('writes nothing when the address was changed or the subscription deleted while it was fetched', async () => {
    const id = await subscribe();
    let during: () => Promise<unknown> = () => Promise.resolve();
    reply = (_request, response) => void during().then(() => response.end(links('a')));
    during = () =>
      dataSource.query('UPDATE subscriptions SET sealed_url = $2 WHERE id = $1', [
        id,
        box.seal(`${url}&other`, 'subscriptions'),
      ]);
    expect(await refresher.run(id)).toMatchObject({ status: 'kept_previous', reason: 'superseded' });
    expect(await carried(id)).toEqual([]);
    expect(await row(id)).toMatchObject({ status: 'never', consecutiveFailures: 0, lastErrorCode: null });
    during = () => dataSource.query('DELETE FROM subscriptions WHERE id = $1', [id]);
    await expect(refresher.run(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const [{ count }] = await dataSource.query('SELECT count(*)::int AS count FROM nodes');
    expect(count).toBe(0);
  });

  it('keeps no credential in clear, neither of nodes nor of the address', async () => {
    const id = await subscribe();
    reply = answer(link('very-secret-password', 'label'));
    await refresher.run(id);
    const dump = JSON.stringify(await dataSource.query('SELECT n.*, s.* FROM nodes n, subscriptions s'));
    expect(dump).toContain('192.0.2.1');
    expect(dump).not.toMatch(/very-secret|SECRET-TOKEN/);
  });

  it('replaces ten thousand nodes at once', async () => {
    const { 'subscription.max_bytes': maxBytes, 'subscription.timeout_ms': timeoutMs } = overrides;
    Object.assign(overrides, { 'subscription.max_bytes': 20_000_000, 'subscription.timeout_ms': 10_000 });
    try {
      const id = await subscribe();
      reply = answer(links(...Array.from({ length: 10_000 }, (_, index) => `x${index}`)));
      expect(await refresher.run(id)).toMatchObject({ status: 'updated', added: 10_000 });
      expect(await refresher.run(id)).toMatchObject({ status: 'not_modified', retained: 10_000 });
    } finally {
      Object.assign(overrides, { 'subscription.max_bytes': maxBytes, 'subscription.timeout_ms': timeoutMs });
    }
  });
});

describe('whatever a provider answers', () => {
  /** `set`: the nodes of the whole reply; null if it has none that can be used. */
  type Case = { what: string; reply: RequestListener; set: string[] | null };
  const unusable = (what: string, listener: RequestListener): Case => ({ what, reply: listener, set: null });
  const letters = Array.from('abcdefgh');
  const sets = fc.uniqueArray(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 });
  const written = fc
    .tuple(sets, fc.constantFrom('links', 'base64', 'clash', 'json'))
    .map(([set, form]) => ({ set, body: Buffer.from(write(set, form)) }));

  function write(set: string[], form: string): string {
    const nodes = set.map((node) => parseLink(link(node)));
    if (form === 'clash') return formatClashDocument(nodes);
    if (form === 'json') return JSON.stringify({ proxies: nodes.map((node) => toClashEntry(node)) });
    return form === 'base64' ? Buffer.from(links(...set)).toString('base64') : links(...set);
  }

  /** The first part of a reply, in each of the ways in which a connection can lose the rest. */
  function cut(body: Buffer, at: number, way: string): RequestListener {
    const part = body.subarray(0, at);
    return (_request, response) => {
      const { socket } = response;
      if (way === 'length')
        socket!.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${part.toString('latin1')}`, 'latin1');
      else if (way === 'chunks') {
        socket!.end(
          `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n${part.toString('latin1')}`,
          'latin1',
        );
      } else {
        const packed = gzipSync(body);
        const some = packed.subarray(0, Math.floor((packed.length * at) / body.length));
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': some.length }).end(some);
      }
    };
  }

  const replies: fc.Arbitrary<Case> = fc.oneof(
    { weight: 5, arbitrary: written.map(({ set, body }) => ({ what: 'whole', reply: answer(body.toString()), set })) },
    {
      weight: 1,
      arbitrary: written.map(({ set, body }): Case => ({
        what: 'ended by the connection',
        reply: (_request, response) => response.socket!.end(`HTTP/1.1 200 OK\r\n\r\n${body.toString()}`),
        set,
      })),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(written, fc.double({ min: 0, max: 0.999, noNaN: true }), fc.constantFrom('length', 'chunks', 'gzip'))
        .map(([{ body }, share, way]) =>
          unusable(`${way} cut at ${share}`, cut(body, Math.floor(body.length * share), way)),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(written, fc.infiniteStream(fc.double({ min: 0.1, max: 0.9, noNaN: true })))
        .map(([{ body }, shares]) =>
          unusable('cut at another byte each time, nothing telling', (_request, response) => {
            const [share] = shares.take(1);
            response.socket!.end(`HTTP/1.1 200 OK\r\n\r\n${body.toString().slice(0, Math.ceil(body.length * share!))}`);
          }),
        ),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        unusable('empty', answer('')),
        unusable('html', answer('<!doctype html><html><body>Log in</body></html>', { 'content-type': 'text/html' })),
        unusable('500', answer(links('a', 'b'), {}, 500)),
        unusable('404', answer(links('a', 'b'), {}, 404)),
        unusable('304', (_request, response) => void response.writeHead(304).end()),
        unusable('huge', answer('x'.repeat(30_000))),
        unusable('huge when unpacked', (_request, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(links(...letters).padEnd(40_000, '\n')));
        }),
        unusable('slow', (_request, response) => {
          response.writeHead(200);
          response.write(links('a'));
        }),
        unusable('nothing readable', answer('ss://nonsense\nvmess://nonsense\n')),
        unusable('an empty list', answer('proxies: []\n')),
        unusable('no outbounds', answer('{"outbounds":[]}')),
        unusable('hung up', (request) => request.socket.destroy()),
        unusable('not gzip', (_request, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip' });
          response.end('not gzip');
        }),
        unusable(
          'to ftp',
          (_request, response) => void response.writeHead(302, { location: 'ftp://elsewhere/' }).end(),
        ),
        unusable('in circles', (_request, response) => void response.writeHead(302, { location: '/' }).end()),
      ),
    },
  );

  /** What users and measurements added to nodes, by password. */
  async function additions(): Promise<Record<string, unknown>> {
    const rows: { id: number; config: string }[] = await dataSource.query(
      `SELECT node.id, node.enabled, node.custom_name, node.config, health.delay_ms, health.tests
       FROM nodes node LEFT JOIN node_health health ON health.node_id = node.id`,
    );
    return Object.fromEntries(
      rows.map(({ config, ...rest }) => [
        (vault.open({ id: rest.id, config }) as { password: string }).password.slice(5),
        rest,
      ]),
    );
  }

  async function select(letter: string): Promise<string | null> {
    const id = ((await additions())[letter] as { id: number } | undefined)?.id;
    if (id === undefined) return null;
    await dataSource.query(`UPDATE nodes SET enabled = false, custom_name = 'mine' WHERE id = $1`, [id]);
    await dataSource.query(
      `INSERT INTO node_health (node_id, test_url, alive, delay_ms, last_tested_at, tests)
       VALUES ($1, '', true, 42, now(), 7) ON CONFLICT (node_id, test_url) DO NOTHING`,
      [id],
    );
    await dataSource.query(`UPDATE outbound_groups SET selected_tag = $1 WHERE name = 'PROXY'`, [`n${id}`]);
    return `n${id}`;
  }

  const selected = async (): Promise<string | null> =>
    (await dataSource.query(`SELECT selected_tag FROM outbound_groups WHERE name = 'PROXY'`))[0].selected_tag;

  it('leaves either the whole new set or the whole old one, with all kept fields', async () => {
    const steps = fc.array(fc.tuple(replies, fc.constantFrom(...letters)), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const id = await subscribe();
        let before: string[] = [];
        for (const [next, letter] of sequence) {
          const tag = await select(letter);
          const kept = await additions();
          reply = next.reply;
          const result = await refresher.run(id);
          const after = await carried(id);
          const seen = `${next.what}: ${JSON.stringify(result)}`;
          if (next.set === null) {
            // Half of a reply from a new address cannot be distinguished from a whole one.
            if (next.what.endsWith('nothing telling') && before.length === 0) after.length = 0;
            else {
              expect(result.status, seen).not.toBe('updated');
              expect(after, seen).toEqual(before);
            }
            if (after.length === 0 && before.length === 0) await dataSource.query('DELETE FROM node_sources');
          } else if (result.status === 'kept_previous') {
            expect(result.reason).toBe('shrunk_below_threshold');
            expect(after).toEqual(before);
          } else {
            expect(after, seen).toEqual(next.set);
            expect(result.added + result.retained + result.updated, seen).toBe(after.length);
            expect(result.removed, seen).toBe(before.filter((node) => !after.includes(node)).length);
            expect(result.added, seen).toBe(after.filter((node) => !before.includes(node)).length);
          }
          const now = await additions();
          for (const node of after)
            if (kept[node] !== undefined && before.includes(node)) expect(now[node], seen).toEqual(kept[node]);
          if (tag !== null) expect(await selected()).toBe(tag);
          before = after;
        }
        await dataSource.query('DELETE FROM subscriptions WHERE id = $1', [id]);
        await dataSource.query('DELETE FROM nodes');
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});

describe('defects of well-known programs', () => {
  it('5: a reply over the size limit is refused, never cut', async () => {
    const id = await subscribe();
    const body = formatClashDocument(Array.from({ length: 400 }, (_, index) => parseLink(link(`n${index}`))));
    expect(body.length).toBeGreaterThan(20_000);
    reply = answer(body);
    expect(await refresher.run(id)).toMatchObject({ status: 'failed', reason: 'too_large', parsed: 0 });
  });

  it('6: the quota of an error page is ignored', async () => {
    const id = await subscribe();
    reply = answer(links('a'), { 'subscription-userinfo': 'upload=1; download=2; total=10' });
    await refresher.run(id);
    reply = answer('error', { 'subscription-userinfo': 'upload=0; download=0; total=0; expire=1' }, 503);
    await refresher.run(id);
    expect((await row(id)).traffic).toMatchObject({ total: 10, upload: 1, expire_at: null });
  });

  it.each([
    ['', 'empty_result'],
    ['<html></html>', 'html_response'],
    ['{"outbounds":[]}', 'empty_result'],
    ['proxies:\nrules:\n  - MATCH,DIRECT\n', 'empty_result'],
    ['proxies:\n  - {name: a, type: warp}\n', 'empty_result'],
  ])('7: %j never takes the place of nodes', async (body, reason) => {
    const id = await subscribe();
    reply = answer(links('a', 'b'));
    await refresher.run(id);
    reply = answer(body);
    for (const force of [false, true]) {
      expect(await refresher.run(id, force)).toMatchObject({
        status: 'kept_previous',
        reason,
        retained: 2,
        removed: 0,
      });
    }
    expect(await carried(id)).toEqual(['a', 'b']);
  });

  it('8: the counts of a refresh match the changes', async () => {
    const id = await subscribe();
    reply = answer([link('a', 'A'), link('b', 'B'), link('c', 'C')].join('\n'));
    await refresher.run(id);
    const info = link('x', 'Remaining traffic: 5 GB');
    reply = answer([link('a', 'A'), link('a', 'again'), link('b2', 'B'), link('d', 'D'), info, 'ss://bad'].join('\n'));
    expect(await refresher.run(id)).toMatchObject({
      parsed: 3,
      added: 1,
      updated: 1,
      retained: 1,
      removed: 1,
      duplicates: 1,
      ignored: 1,
      skipped: 1,
    });
    expect(await row(id)).toMatchObject({ duplicateCount: 1, skippedCount: 1 });
  });
});
