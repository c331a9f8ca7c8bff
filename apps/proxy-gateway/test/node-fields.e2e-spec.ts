import { once } from 'node:events';
import { connect } from 'node:net';
import type { NodeView, Page } from '@gatehouse/contracts';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let provider: Provider;
let database: DataSource;
beforeAll(async () => {
  gateway = await startGateway();
  provider = await startProvider();
  database = gateway.app.app.get(DataSource);
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { id } of (await gateway.call('GET', '/subscriptions')).body.items)
    await gateway.call('DELETE', `/subscriptions/${id}`);
  await gateway.call('POST', '/proxies/import?allow_empty=true', { mode: 'replace', nodes: [] });
});

const page = async (query = ''): Promise<Page<NodeView>> => (await gateway.call('GET', `/proxies${query}`)).body;
const names = async (query: string): Promise<string[]> => (await page(query)).items.map(({ name }) => name);
const put = (id: number, body: object) => gateway.call('PUT', `/proxies/${id}`, body);
const add = async (name: string, more: object = {}): Promise<NodeView> => {
  const { body } = await gateway.call<NodeView>('POST', '/proxies', { raw_config: shadowsocksLink(name, name) });
  return Object.keys(more).length === 0 ? body : (await put(body.id, more)).body;
};
const measured = (id: number, alive: boolean, delay: number | null, url = ''): Promise<unknown> =>
  database.query(
    `INSERT INTO node_health (node_id, test_url, alive, delay_ms, last_tested_at, error_code, error_message, failure_count,
       tests, successes, delay_history) VALUES ($1, $2, $3, $4, '2026-01-02T03:04:05Z', $5, $6, $7, 4, 3, $8)`,
    [
      id,
      url,
      alive,
      delay,
      alive ? null : 'timeout',
      alive ? null : 'no answer',
      alive ? 0 : 2,
      JSON.stringify([{ time: '2026-01-02T03:04:05.000Z', delay_ms: delay }]),
    ],
  );

describe('a node', () => {
  it('that was never tested says so', async () => {
    expect(await add('a')).toMatchObject({
      tags: [],
      alive: null,
      delay_ms: null,
      delay_history: [],
      last_tested_at: null,
      last_error: null,
      failure_count: 0,
      circuit_open_since: null,
      success_rate: null,
      active_connections: 0,
      upload_total: 0,
      download_total: 0,
      exit_ip: null,
      exit_asn: null,
    });
  });

  it('shows the general measurement, not that of a group', async () => {
    const { id } = await add('a');
    await measured(id, false, null);
    await measured(id, true, 7, 'http://group.example/');
    await database.query(
      `UPDATE nodes SET exit_ip = '192.0.2.9', exit_asn = 64496, circuit_open_since = '2026-01-02T00:00:00Z' WHERE id = $1`,
      [id],
    );
    await database.query(
      `INSERT INTO traffic_totals (outbound, node_id, requests, errors, upload, download, last_seen_at) VALUES ($1, $2, 1, 0, 5, 6, now())`,
      [`n${id}`, id],
    );
    expect((await page()).items).toMatchObject([
      {
        alive: false,
        delay_ms: null,
        delay_history: [{ time: '2026-01-02T03:04:05.000Z', delay_ms: null }],
        last_tested_at: '2026-01-02T03:04:05.000Z',
        last_error: { code: 'timeout', message: 'no answer' },
        failure_count: 2,
        success_rate: 0.75,
        exit_ip: '192.0.2.9',
        exit_asn: 64496,
        circuit_open_since: '2026-01-02T00:00:00.000Z',
        upload_total: 5,
        download_total: 6,
      },
    ]);
  });

  it('counts the connections that it carries now', async () => {
    await using upstream = await startUpstreamProxy();
    const echo = await startTcpEcho();
    const { body: node } = await gateway.call<NodeView>('POST', '/proxies', {
      raw_config: `http://127.0.0.1:${upstream.port}`,
    });
    await gateway.call('PUT', '/outbound/default-policy', { policy: `n${node.id}` });
    const client = connect(gateway.proxyPort, '127.0.0.1');
    try {
      client.write(`CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\nHost: 127.0.0.1:${echo.port}\r\n\r\n`);
      await once(client, 'data');
      const active = async () => (await page()).items.find(({ id }) => id === node.id)?.active_connections;
      await waitFor(async () => (await active()) === 1);
      client.destroy();
      await waitFor(async () => (await active()) === 0);
    } finally {
      client.destroy();
      await echo.close();
      await gateway.call('PUT', '/outbound/default-policy', { policy: 'PROXY' });
    }
  });
});

describe('PUT /proxies/{id}', () => {
  it('keeps tags tidy, in place of those before', async () => {
    const { id } = await add('a', { tags: [' x ', 'y', 'x', ''] });
    expect((await page()).items[0]!.tags).toEqual(['x', 'y']);
    expect((await put(id, { name: 'b' })).body.tags).toEqual(['x', 'y']);
    expect((await put(id, { tags: [] })).body.tags).toEqual([]);
  });

  it.each([
    ['no list', 'x'],
    ['null', null],
    ['no text', [1]],
    ['a long one', ['x'.repeat(65)]],
    ['a control character', ['a\nb']],
    ['too many', Array.from({ length: 33 }, (_, index) => `t${index}`)],
  ])('refuses tags: %s', async (_what, tags) => {
    const { id } = await add('a');
    const { status, body } = await put(id, { tags });
    expect([status, body.details[0].field]).toEqual([400, 'tags']);
  });

  it('removes a chosen country: the measured one shows again', async () => {
    const { id } = await add('\u{1f1ef}\u{1f1f5} a', { country: 'CH' });
    await database.query(`UPDATE nodes SET exit_country = 'NL', exit_ip = '192.0.2.9' WHERE id = $1`, [id]);
    expect((await put(id, { name: 'b' })).body).toMatchObject({ country: 'CH', country_source: 'manual' });
    expect((await put(id, { country: null })).body).toMatchObject({ country: 'NL', country_source: 'exit_ip' });
  });

  it('accepts only name, enabled, country and tags for the node of a subscription', async () => {
    provider.list(shadowsocksLink('theirs'));
    const { body } = await gateway.call('POST', '/subscriptions', {
      name: 's',
      url: provider.url,
      interval_sec: 3600,
      allow_private: true,
    });
    await gateway.call('POST', `/subscriptions/${body.id}/refresh`);
    const { id } = (await page()).items[0]!;
    const changes = { name: 'mine', enabled: false, country: 'CH', tags: ['x'] };
    expect(await put(id, changes)).toMatchObject({ status: 200, body: changes });
    for (const change of [{ raw_config: shadowsocksLink('x') }, { type: 'ss' }, { tags: ['y'], type: 'trojan' }]) {
      expect(await put(id, change), JSON.stringify(change)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    }
    await gateway.call('POST', `/subscriptions/${body.id}/refresh?force=true`);
    expect((await page()).items).toMatchObject([changes]);
  });
});

describe('GET /proxies', () => {
  it('filters by each field', async () => {
    const fast = await add('Fast \u{1f1ef}\u{1f1f5}', { tags: ['work', 'tv'] });
    const dead = await add('dead%_\\', { enabled: false, tags: ['tv'] });
    await add('other');
    await gateway.call('POST', '/proxies', { raw_config: 'http://proxy.example:3128', name: 'web' });
    await measured(fast.id, true, 20);
    await measured(dead.id, false, null);
    expect(await names('?enabled=false')).toEqual(['dead%_\\']);
    expect(await names('?enabled=true')).toHaveLength(3);
    expect(await names('?alive=true')).toEqual([fast.name]);
    expect(await names('?alive=false')).toEqual(['dead%_\\']);
    expect(await names('?alive=unknown')).toEqual(['other', 'web']);
    expect(await names('?type=http')).toEqual(['web']);
    expect(await names('?tag=tv')).toEqual([fast.name, 'dead%_\\']);
    expect(await names('?tag=TV')).toEqual([]);
    expect(await names('?search=FAST')).toEqual([fast.name]);
    expect(await names('?search=proxy.ex')).toEqual(['web']);
    expect(await names(`?search=${encodeURIComponent('%_\\')}`)).toEqual(['dead%_\\']);
    expect(await names('?search=%25')).toEqual(['dead%_\\']);
    expect(await page('?tag=tv&alive=true&search=fa')).toMatchObject({ total: 1 });
    await put(dead.id, { name: 'renamed' });
    expect(await names('?search=dead')).toEqual(['renamed']);
  });

  it('sorts, with missing values last in either order', async () => {
    const [a, b, c] = [await add('b'), await add('A', { country: 'JP' }), await add('c', { country: 'DE' })];
    await measured(a!.id, true, 30);
    await measured(b!.id, true, 10);
    await measured(c!.id, false, null);
    expect(await names('?sort=id')).toEqual(['b', 'A', 'c']);
    expect(await names('?sort=-id')).toEqual(['c', 'A', 'b']);
    expect(await names('?sort=name')).toEqual(['A', 'b', 'c']);
    expect(await names('?sort=-name')).toEqual(['c', 'b', 'A']);
    expect(await names('?sort=delay')).toEqual(['A', 'b', 'c']);
    expect(await names('?sort=-delay')).toEqual(['b', 'A', 'c']);
    expect(await names('?sort=country')).toEqual(['c', 'A', 'b']);
    expect(await names('?sort=-country')).toEqual(['A', 'c', 'b']);
    expect(await names('?sort=delay&limit=1&offset=1')).toEqual(['b']);
  });

  it.each(['enabled=yes', 'alive=maybe', 'type=direct', 'sort=speed', 'sort=', 'tag=%00', `search=${'x'.repeat(201)}`])(
    'refuses ?%s, naming it',
    async (query) => {
      const { status, body } = await gateway.call('GET', `/proxies?${query}`);
      expect([status, body.code, body.details[0].field]).toEqual([400, 'INVALID_ARGUMENT', query.split('=')[0]]);
    },
  );

  it('shows a read-only key no secret in any form', async () => {
    await add('secret').then(({ id }) => put(id, { raw_config: shadowsocksLink('hidden-password', 'x') }));
    await page();
    const { body } = await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] });
    const response = await fetch(`${gateway.app.url}/api/v1/proxies`, { headers: { 'x-api-key': body.key } });
    const { items } = (await response.json()) as Page<NodeView>;
    expect(items[0]).toMatchObject({ share_link: null });
    expect(items[0]!.raw_config).not.toContain('hidden-password');
    expect((await page()).items[0]!.raw_config).toContain('hidden-password');
  });
});
