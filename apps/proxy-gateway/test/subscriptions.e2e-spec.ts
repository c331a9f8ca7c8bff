import type { ItemList, NodeView, Page, RefreshResult, SubscriptionView } from '@gatehouse/contracts';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';

let gateway: Gateway;
let provider: Provider;
beforeAll(async () => {
  gateway = await startGateway();
  provider = await startProvider();
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { id } of (await list()).items) await gateway.call('DELETE', `/subscriptions/${id}`);
});

const list = async () => (await gateway.call<ItemList<SubscriptionView>>('GET', '/subscriptions')).body;
const nodes = async (query = '') => (await gateway.call<Page<NodeView>>('GET', `/proxies${query}`)).body;
const body = (more: object = {}) => ({
  name: 'Provider',
  url: provider.url,
  type: 'auto',
  interval_sec: 3600,
  enabled: true,
  allow_private: true,
  ...more,
});
async function subscribe(more: object = {}): Promise<SubscriptionView> {
  const { status, body: created } = await gateway.call<SubscriptionView>('POST', '/subscriptions', body(more));
  expect(status).toBe(201);
  return created;
}
const refresh = async (id: number, query = ''): Promise<RefreshResult> => {
  const answer = await gateway.call<RefreshResult>('POST', `/subscriptions/${id}/refresh${query}`);
  expect(answer.status).toBe(200);
  return answer.body;
};

describe('/subscriptions', () => {
  it('creates, lists, gets, replaces and deletes', async () => {
    const created = await subscribe();
    expect(created).toMatchObject({
      ...body(),
      status: 'never',
      node_count: 0,
      last_error: null,
      traffic: null,
      user_agent: null,
    });
    expect(await list()).toMatchObject({ items: [{ id: created.id }], total: 1 });
    const changed = await gateway.call(
      'PUT',
      `/subscriptions/${created.id}`,
      body({ name: 'Renamed', interval_sec: 600, enabled: false }),
    );
    expect([changed.status, changed.body]).toMatchObject([200, { name: 'Renamed', interval_sec: 600, enabled: false }]);
    expect((await gateway.call('GET', `/subscriptions/${created.id}`)).body).toEqual(changed.body);
    expect((await gateway.call('DELETE', `/subscriptions/${created.id}`)).status).toBe(200);
    expect(await list()).toEqual({ items: [], total: 0 });
  });

  it('works with the five fields of the specification alone', async () => {
    const { allow_private: _, ...five } = body();
    const { status, body: created } = await gateway.call('POST', '/subscriptions', five);
    expect([status, created.allow_private]).toEqual([201, false]);
    expect(await refresh(created.id)).toMatchObject({ status: 'failed', reason: 'blocked_address' });
  });

  it.each<[string, object, string]>([
    ['no name', { name: undefined }, 'name'],
    ...['name', 'url', 'type', 'interval_sec', 'enabled', 'allow_private'].map((field): [string, object, string] => [
      `null for ${field}`,
      { [field]: null },
      field,
    ]),
    ['an empty name', { name: ' ' }, 'name'],
    ['a file', { url: 'file:///etc/passwd' }, 'url'],
    ['no URL at all', { url: 'example' }, 'url'],
    ['another type', { type: 'surge' }, 'type'],
    ['an interval in words', { interval_sec: '3600' }, 'interval_sec'],
    ['an interval that floods the provider', { interval_sec: 1 }, 'interval_sec'],
    ['a control character in the name', { name: 'a\0b' }, 'name'],
    ['an unknown field', { color: 'red' }, 'color'],
    ['a header smuggled into the user agent', { user_agent: 'a\r\nX: y' }, 'user_agent'],
  ])('refuses %s, naming the field', async (_what, more, field) => {
    const { status, body: error } = await gateway.call('POST', '/subscriptions', body(more));
    expect([status, error.code]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(error.details.map((detail: { field: string }) => detail.field)).toContain(field);
    expect((await list()).total).toBe(0);
  });

  it.each(['name', 'url', 'type', 'interval_sec', 'enabled', 'allow_private'])(
    'refuses null for %s in a change',
    async (field) => {
      const { id } = await subscribe();
      const { status, body: error } = await gateway.call('PUT', `/subscriptions/${id}`, { [field]: null });
      expect([status, error.details[0].field]).toEqual([400, field]);
    },
  );

  it.each([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/refresh'],
  ])('answers 404 for %s of one that is not there', async (method, path) => {
    const answer = await gateway.call(method, `/subscriptions/4711${path}`, method === 'PUT' ? body() : undefined);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('refreshes through the queue, waits for it, and puts the nodes into the kernel before it answers', async () => {
    provider.list(shadowsocksLink('a', '🇯🇵 Tokyo 1'), shadowsocksLink('b', 'Paris'), 'ss://nonsense');
    const { id } = await subscribe();
    expect(await refresh(id)).toMatchObject({
      subscription_id: id,
      status: 'updated',
      parsed: 2,
      added: 2,
      skipped: 1,
      skipped_entries: [{ line: 3 }],
    });
    expect(gateway.kernel.config?.outbounds).toHaveLength(2);
    expect((await list()).items[0]).toMatchObject({
      node_count: 2,
      status: 'warning',
      skipped_count: 1,
      detected_type: 'links',
      last_status_code: 200,
    });
    expect(await nodes(`?subscription_id=${id}`)).toMatchObject({
      total: 2,
      items: [
        {
          name: '🇯🇵 Tokyo 1',
          type: 'ss',
          source: 'subscription',
          subscription_id: id,
          subscription_name: 'Provider',
          country: 'JP',
          country_source: 'name',
        },
        { name: 'Paris', country: 'FR' },
      ],
    });
  });

  it('keeps its nodes when the provider fails, with the reason', async () => {
    provider.list(shadowsocksLink('a'));
    const { id } = await subscribe();
    await refresh(id);
    provider.reply = (_request, response) => response.writeHead(502).end('<html>');
    expect(await refresh(id)).toMatchObject({ status: 'failed', reason: 'http_status', http_status: 502, retained: 1 });
    expect((await list()).items[0]).toMatchObject({
      status: 'error',
      node_count: 1,
      consecutive_failures: 1,
      last_error: { code: 'http_status' },
    });
    expect(gateway.kernel.config?.outbounds).toHaveLength(1);
  });

  it('deletes its nodes, except shared and manual ones', async () => {
    provider.list(shadowsocksLink('own'), shadowsocksLink('shared'), shadowsocksLink('by-hand'));
    const manual = await gateway.call('POST', '/proxies', { raw_config: shadowsocksLink('by-hand', 'mine') });
    const first = await subscribe();
    await refresh(first.id);
    provider.list(shadowsocksLink('shared', 'other name'));
    const second = await subscribe();
    await refresh(second.id);
    const removed = await gateway.call('DELETE', `/subscriptions/${first.id}`);
    expect(removed.body).toMatchObject({ removed_nodes: 1 });
    const left = await nodes();
    expect(left.items.map(({ source, name }) => [source, name]).sort(([a], [b]) => a!.localeCompare(b!))).toEqual([
      ['manual', 'mine'],
      ['subscription', 'shared'],
    ]);
    expect(left.items.find(({ source }) => source === 'subscription')!.sources).toEqual([
      { subscription_id: second.id, name: 'other name' },
    ]);
    expect(gateway.kernel.config?.outbounds).toHaveLength(2);
    await gateway.call('DELETE', `/proxies/${manual.body.id}`);
  });

  it('asks a new address without the validators of the old one', async () => {
    const seen: (string | undefined)[] = [];
    provider.reply = (request, response) => {
      seen.push(request.headers['if-none-match']);
      response.setHeader('etag', '"1"').end(shadowsocksLink('a'));
    };
    const { id } = await subscribe();
    await refresh(id);
    await gateway.call('PUT', `/subscriptions/${id}`, { url: `${provider.url}&other` });
    await refresh(id);
    await refresh(id, '?force=true');
    await refresh(id);
    expect(seen).toEqual([undefined, undefined, undefined, '"1"']);
  });

  it.each([{ type: 'links' }, { user_agent: 'other' }])(
    'asks without the validators once %j changed',
    async (change) => {
      const seen: (string | undefined)[] = [];
      provider.reply = (request, response) => {
        seen.push(request.headers['if-none-match']);
        response.setHeader('etag', '"1"').end(shadowsocksLink('a'));
      };
      const { id } = await subscribe();
      await refresh(id);
      await gateway.call('PUT', `/subscriptions/${id}`, change);
      await refresh(id);
      await gateway.call('PUT', `/subscriptions/${id}`, change);
      await refresh(id);
      expect(seen).toEqual([undefined, undefined, '"1"']);
    },
  );

  it('fetches a new subscription soon, and again at the time it shows', async () => {
    provider.list(shadowsocksLink('a'));
    const { id, next_refresh_at: first } = await subscribe({ interval_sec: 600 });
    expect(Date.parse(first!) - Date.now()).toBeLessThan(5_000);
    const done = await waitFor(
      async () => (await list()).items.find((item) => item.id === id && item.status === 'ok'),
      { timeoutMs: 15_000 },
    );
    expect(done.node_count).toBe(1);
    const ahead = Date.parse(done.next_refresh_at!) - Date.parse(done.last_checked_at!);
    expect(ahead).toBeGreaterThan(600_000 * 0.94);
    expect(ahead).toBeLessThan(600_000 * 1.06);
    const last = await gateway.call('GET', `/subscriptions/${id}/refresh`);
    expect(last.body).toMatchObject({ subscription_id: id, status: 'updated', added: 1 });
  });

  it('counts its nodes that work, by the general address only', async () => {
    provider.list(shadowsocksLink('a'), shadowsocksLink('b'), shadowsocksLink('c'));
    const { id, alive_count: none } = await subscribe({ enabled: false });
    expect(none).toBe(0);
    await refresh(id);
    const dataSource = gateway.app.app.get(DataSource, { strict: false });
    await dataSource.query(
      `INSERT INTO node_health (node_id, test_url, alive, last_tested_at)
       SELECT id, url, original_name = 'a' OR url <> '', now() FROM nodes, unnest(ARRAY['', 'http://x.example/']) url`,
    );
    expect((await list()).items[0]).toMatchObject({ node_count: 3, alive_count: 1 });
  });

  it('is due only while enabled, and soon when what is fetched changed', async () => {
    const { id, next_refresh_at: none } = await subscribe({ enabled: false });
    expect(none).toBeNull();
    const put = async (change: object): Promise<SubscriptionView> =>
      (await gateway.call<SubscriptionView>('PUT', `/subscriptions/${id}`, change)).body;
    const inMs = ({ next_refresh_at: at }: SubscriptionView): number => Date.parse(at!) - Date.now();
    expect(inMs(await put({ enabled: true }))).toBeLessThan(5_000);
    provider.list(shadowsocksLink('a'));
    await refresh(id);
    expect(inMs((await list()).items[0]!)).toBeGreaterThan(3_000_000);
    expect(inMs(await put({ interval_sec: 600 }))).toBeLessThan(601_000);
    expect(inMs(await put({ name: 'other' }))).toBeGreaterThan(500_000);
    expect(inMs(await put({ url: `${provider.url}&other` }))).toBeLessThan(5_000);
    expect((await put({ enabled: false })).next_refresh_at).toBeNull();
    expect((await gateway.call('GET', `/subscriptions/${id + 1_000}/refresh`)).status).toBe(404);
  });

  it('uses the interval of the provider unless a user chose one', async () => {
    provider.reply = (_request, response) =>
      response.setHeader('profile-update-interval', '24').end(shadowsocksLink('a'));
    const { id, interval_source: source } = await subscribe({ interval_sec: undefined });
    expect(source).toBe('default');
    await refresh(id);
    const [provided] = (await list()).items;
    expect(provided).toMatchObject({ interval_sec: 86_400, interval_source: 'provider' });
    expect(Date.parse(provided!.next_refresh_at!) - Date.now()).toBeGreaterThan(80_000_000);
    await gateway.call('PUT', `/subscriptions/${id}`, { interval_sec: 86_400 });
    expect((await list()).items[0]!.interval_source).toBe('provider');
    await gateway.call('PUT', `/subscriptions/${id}`, { interval_sec: 7_200 });
    await refresh(id);
    expect((await list()).items[0]).toMatchObject({ interval_sec: 7_200, interval_source: 'user' });
  });

  it('shows credentials only to callers that may write, and logs none', async () => {
    provider.list(shadowsocksLink('VERY-SECRET', 'label'));
    const { id } = await subscribe();
    await refresh(id);
    const { body: key } = await gateway.call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    const reader = { authorization: `Bearer ${key.key}` };
    const shown = JSON.stringify([
      (await gateway.call('GET', '/subscriptions', undefined, reader)).body,
      (await gateway.call('GET', '/proxies', undefined, reader)).body,
    ]);
    expect(shown).toContain('label');
    expect(shown).not.toMatch(/VERY-SECRET|PROVIDER-TOKEN/);
    expect((await list()).items[0]!.url).toContain('PROVIDER-TOKEN');
    expect((await nodes()).items[0]).toMatchObject({
      share_link: expect.stringContaining('ss://'),
      raw_config: expect.stringContaining('VERY-SECRET'),
    });
    expect((await gateway.call('POST', `/subscriptions/${id}/refresh`, undefined, reader)).status).toBe(403);
    await waitFor(() => gateway.app.logs.length > 0);
    expect(JSON.stringify(gateway.app.logs)).not.toMatch(/VERY-SECRET|PROVIDER-TOKEN/);
  });
});
