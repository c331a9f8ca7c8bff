import type { NodeView, Page } from '@gatehouse/contracts';
import { IdempotencyStore } from '@gatehouse/auth';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { lockNodes } from '../src/nodes/lock-nodes.js';
import { startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';
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
  for (const { id } of (await gateway.call('GET', '/subscriptions')).body.items)
    await gateway.call('DELETE', `/subscriptions/${id}`);
  for (const { id } of (await page('?limit=500')).items) await gateway.call('DELETE', `/proxies/${id}`);
});

const page = async (query = ''): Promise<Page<NodeView>> => (await gateway.call('GET', `/proxies${query}`)).body;
const add = (raw_config: string, more: object = {}) =>
  gateway.call<NodeView>('POST', '/proxies', { raw_config, ...more });
async function subscribed(...lines: string[]): Promise<number> {
  provider.list(...lines);
  const subscription = {
    name: 's',
    url: provider.url,
    type: 'auto',
    interval_sec: 3600,
    enabled: true,
    allow_private: true,
  };
  const { body } = await gateway.call('POST', '/subscriptions', subscription);
  await gateway.call('POST', `/subscriptions/${body.id}/refresh`);
  return body.id;
}

it('answers a repeat with its Idempotency-Key although the process ended before the answer', async () => {
  const post = (): Promise<Answer<NodeView>> =>
    gateway.call('POST', '/proxies', { raw_config: shadowsocksLink('once') }, { 'idempotency-key': 'once' });
  const died = vi.spyOn(IdempotencyStore.prototype, 'remember').mockRejectedValueOnce(new Error('killed'));
  expect((await post()).status).toBe(500);
  died.mockRestore();
  const [node] = (await page()).items;
  expect(await post()).toMatchObject({ status: 201, body: { id: node?.id, name: 'once' } });
});

describe('POST /proxies', () => {
  const clash = { name: 'C', type: 'ss', server: '192.0.2.9', port: 8388, cipher: 'aes-256-gcm', password: 'p' };

  it.each([
    ['a share link', shadowsocksLink('p'), 'ss'],
    ['JSON', JSON.stringify(clash), 'ss'],
    ['YAML', 'name: Y\ntype: trojan\nserver: t.example\nport: 443\npassword: p\nsni: front.example\n', 'trojan'],
    ['an endpoint', '192.0.2.1:3128:user:secret', 'http'],
  ])('adds a node from %s', async (_what, raw, type) => {
    const { status, body } = await add(raw, { name: 'Mine', type });
    expect([status, body]).toMatchObject([
      201,
      { name: 'Mine', type, source: 'manual', subscription_id: null, sources: [], enabled: true },
    ]);
    expect(body.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect((await add(body.raw_config)).status).toBe(409);
  });

  it('describes a node, and whether the kernel dials it', async () => {
    const { body } = await add(
      'name: 🇩🇪 T\ntype: trojan\nserver: t.example\nport: 443\npassword: p\nsni: front.example\nnetwork: ws\nws-opts: { path: /x }\nudp: true\n',
    );
    expect(body).toMatchObject({
      network: 'ws',
      tls: 'tls',
      udp: true,
      sni: 'front.example',
      kernel_support: 'embedded',
      unsupported_reason: null,
      country: 'DE',
      country_name: 'Germany',
      flag: '🇩🇪',
      country_source: 'name',
    });
    const { body: other } = await add('hysteria2://p@192.0.2.1:443?sni=a.example');
    expect(other).toMatchObject({
      kernel_support: 'external',
      unsupported_reason: expect.stringContaining('hysteria2'),
    });
    const { body: status } = await gateway.call('GET', '/system/status');
    expect(status.kernel).toMatchObject({ left_out: [{ node_id: other.id }], left_out_total: 1 });
  });

  it('prefers the country of the server address to that of the name', async () => {
    const { body } = await add('ss://YWVzLTEyOC1nY206cA@8.8.8.8:443#🇯🇵 Tokyo');
    expect(body).toMatchObject({ country: 'US', country_source: 'server_ip' });
  });

  it('refuses the same node again under any name, naming the existing one', async () => {
    const { body } = await add(shadowsocksLink('p', 'one'));
    const again = await add(shadowsocksLink('p', 'two'));
    expect([again.status, again.body]).toMatchObject([
      409,
      { code: 'CONFLICT', error: expect.stringContaining(`${body.id}`) },
    ]);
  });

  it.each([
    ['nonsense', 'hello', {}, 'raw_config'],
    ['another type', shadowsocksLink('p'), { type: 'trojan' }, 'type'],
    ['null as type', shadowsocksLink('p'), { type: null }, 'type'],
    ['null as name', shadowsocksLink('p'), { name: null }, 'name'],
    ['a control character in the name', shadowsocksLink('p'), { name: 'a\0b' }, 'name'],
    ['nothing', '', {}, 'raw_config'],
    ['an unknown scheme', 'gopher://x', {}, 'raw_config'],
    ['two links', `${shadowsocksLink('a')}\n${shadowsocksLink('b')}`, {}, 'raw_config'],
  ])('refuses %s', async (_what, raw, more, field) => {
    const { status, body }: Answer = await add(raw, more);
    expect([status, body.code, body.details[0].field]).toEqual([400, 'INVALID_ARGUMENT', field]);
  });
});

describe('GET /proxies', () => {
  it('filters and pages', async () => {
    const subscription = await subscribed(
      shadowsocksLink('a', '🇯🇵 1'),
      shadowsocksLink('b', '🇯🇵 2'),
      shadowsocksLink('c', 'no flag'),
    );
    await add(shadowsocksLink('d', '🇯🇵 hand'));
    const names = async (query: string) => (await page(query)).items.map(({ name }) => name);
    expect(await names('?source=manual')).toEqual(['🇯🇵 hand']);
    expect(await names('?source=subscription&country=jp')).toEqual(['🇯🇵 1', '🇯🇵 2']);
    expect(await names(`?subscription_id=${subscription}`)).toHaveLength(3);
    expect(await names('?country=ZZ')).toEqual(['no flag']);
    expect(await page('?limit=2&offset=1')).toMatchObject({
      total: 4,
      limit: 2,
      offset: 1,
      items: [{ name: '🇯🇵 2' }, { name: 'no flag' }],
    });
    expect(await page()).toMatchObject({ limit: 50, offset: 0 });
    expect(await page('?offset=100')).toMatchObject({ total: 4, items: [] });
  });

  it.each([
    'limit=501',
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'offset=-1',
    'source=other',
    'subscription_id=x',
    'country=Japan',
    'unknown=1',
  ])('refuses ?%s, naming it', async (query) => {
    const { status, body } = await gateway.call('GET', `/proxies?${query}`);
    expect([status, body.code, body.details[0].field]).toEqual([400, 'INVALID_ARGUMENT', query.split('=')[0]]);
  });
});

describe('a node whose stored definition does not open', () => {
  it('is marked, and does not affect lists, the kernel, other nodes, exports or imports', async () => {
    const [moved, good] = [await add(shadowsocksLink('moved')), await add(shadowsocksLink('good'))];
    const { id } = moved.body;
    const dataSource = gateway.app.app.get(DataSource);
    await dataSource.query('UPDATE nodes SET config = (SELECT config FROM nodes WHERE id = $2) WHERE id = $1', [
      id,
      good.body.id,
    ]);
    expect((await page()).items.find((node) => node.id === id)).toMatchObject({
      raw_config: '',
      share_link: null,
      kernel_support: 'unsupported',
      unsupported_reason: expect.stringContaining('does not open'),
    });
    expect((await gateway.call('POST', '/system/reload')).status).toBe(200);
    const added = await add(shadowsocksLink('added later'));
    const { kernel } = (await gateway.call('GET', '/system/status')).body;
    expect(kernel).toMatchObject({ state: 'running', last_error: null });
    expect(kernel.left_out).toEqual([{ node_id: id, name: 'moved', reason: expect.stringContaining('does not open') }]);
    const applied = gateway.kernel.config?.outbounds.map(({ tag }) => tag);
    expect(applied).toEqual([`n${good.body.id}`, `n${added.body.id}`]);
    expect(gateway.app.logs.filter(({ message }) => message.includes(`goes without node ${id} (moved)`))).toHaveLength(
      1,
    );
    const tested = await gateway.call('POST', `/proxies/${id}/test`);
    expect([tested.status, tested.body.error]).toEqual([422, expect.stringContaining('does not open')]);
    // A file without it would look complete.
    const refused = await gateway.call('GET', '/proxies/export?format=json');
    expect([refused.status, refused.body.error]).toEqual([422, expect.stringContaining(`Node ${id} (moved)`)]);
    const again = { text: shadowsocksLink('moved') };
    expect((await gateway.call('POST', '/proxies/import', again)).status).toBe(200);
  });
});

describe('PUT and DELETE /proxies/{id}', () => {
  const put = (id: number, body: object) => gateway.call('PUT', `/proxies/${id}`, body);

  it('changes a manual node, keeping its id', async () => {
    const { body: node } = await add(shadowsocksLink('p', 'one'));
    const changed = await put(node.id, {
      name: 'two',
      raw_config: shadowsocksLink('q', 'ignored'),
      enabled: false,
      country: 'is',
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { id: node.id, name: 'two', enabled: false, country: 'IS', country_source: 'manual' },
    ]);
    expect(changed.body.raw_config).toContain('"q"');
    expect(gateway.kernel.config?.outbounds).toEqual([]);
    const back = await put(node.id, { name: null, country: null, enabled: true });
    expect(back.body).toMatchObject({ name: 'one', country: null, country_source: 'none' });
    expect(gateway.kernel.config?.outbounds).toHaveLength(1);
  });

  it('lets users rename and disable the node of a subscription, also across a refresh', async () => {
    const subscription = await subscribed(shadowsocksLink('a', 'theirs'));
    const { id } = (await page()).items[0]!;
    expect((await put(id, { name: 'mine', enabled: false, country: 'CH' })).status).toBe(200);
    provider.list(shadowsocksLink('a', 'theirs again'));
    await gateway.call('POST', `/subscriptions/${subscription}/refresh`);
    expect((await page()).items[0]).toMatchObject({
      id,
      name: 'mine',
      original_name: 'theirs again',
      enabled: false,
      country: 'CH',
    });
    expect((await put(id, { raw_config: shadowsocksLink('x') })).status).toBe(409);
    expect((await gateway.call('DELETE', `/proxies/${id}`)).status).toBe(409);
  });

  it('refuses invalid changes', async () => {
    const { body: one } = await add(shadowsocksLink('p'));
    await add(shadowsocksLink('q'));
    expect((await put(one.id, { raw_config: shadowsocksLink('q') })).status).toBe(409);
    expect((await put(one.id, { country: 'QQ' })).status).toBe(400);
    expect((await put(one.id, { name: 'a\0b' })).status).toBe(400);
    expect((await put(one.id, { type: 'trojan' })).status).toBe(400);
    for (const field of ['raw_config', 'type', 'enabled'])
      expect((await put(one.id, { [field]: null })).status, field).toBe(400);
    expect((await put(4711, { name: 'x' })).status).toBe(404);
    expect((await gateway.call('DELETE', '/proxies/4711')).status).toBe(404);
    for (const id of ['x', '1.5', '99999999999999999999']) {
      expect((await gateway.call('DELETE', `/proxies/${id}`)).status, id).toBe(400);
    }
  });

  it('leaves a deleted manual node to a subscription that contains it', async () => {
    const { body: node } = await add(shadowsocksLink('p'));
    await subscribed(shadowsocksLink('p'));
    expect((await gateway.call('DELETE', `/proxies/${node.id}`)).status).toBe(200);
    expect((await page()).items).toMatchObject([{ id: node.id, source: 'subscription' }]);
  });
});

describe('GET /proxies/ids', () => {
  it('has the ids of all nodes that match, in order, without a page', async () => {
    const names = ['charlie', 'alpha', 'bravo', 'other'];
    const ids = new Map<string, number>();
    for (const name of names) ids.set(name, (await add(shadowsocksLink(name, name))).body.id);
    const { body } = await gateway.call('GET', '/proxies/ids?sort=-name&type=ss');
    expect(body).toEqual({ ids: ['other', 'charlie', 'bravo', 'alpha'].map((name) => ids.get(name)) });
    expect((await gateway.call('GET', '/proxies/ids?search=brav')).body).toEqual({ ids: [ids.get('bravo')] });
    expect((await gateway.call('GET', '/proxies/ids?sort=colour')).status).toBe(400);
  });
});

describe('POST /proxies/batch', () => {
  const batch = (action: string, ids: unknown[]) => gateway.call('POST', '/proxies/batch', { action, ids });

  it('disables and enables nodes of any source', async () => {
    const { body: manual } = await add(shadowsocksLink('m', 'm'));
    await subscribed(shadowsocksLink('s', 's'));
    const ids = (await page()).items.map(({ id }) => id);
    const { body } = await batch('disable', [...ids, manual.id]);
    expect(body).toEqual({ action: 'disable', done: ids, failed: [] });
    expect((await page('?enabled=false')).total).toBe(2);
    await batch('enable', [manual.id]);
    expect((await page('?enabled=true')).items.map(({ id }) => id)).toEqual([manual.id]);
  });

  it('deletes what it may, and says for each other node why it stays', async () => {
    const { body: manual } = await add(shadowsocksLink('m', 'm'));
    await subscribed(shadowsocksLink('s', 's'));
    const foreign = (await page('?source=subscription')).items[0]!.id;
    const { status, body } = await batch('delete', [manual.id, foreign, 999_999]);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      done: [manual.id],
      failed: [
        { id: foreign, code: 'CONFLICT', message: expect.stringContaining('belongs to a subscription') },
        { id: 999_999, code: 'NOT_FOUND' },
      ],
    });
    expect((await page()).items.map(({ id }) => id)).toEqual([foreign]);
  });

  it('adds tags and removes them, and leaves a node alone that would have too many', async () => {
    const { body: first } = await add(shadowsocksLink('a', 'a'));
    const many = Array.from({ length: 32 }, (_, index) => `tag ${index}`);
    const { body: full } = await add(shadowsocksLink('b', 'b'));
    await gateway.call('PUT', `/proxies/${first.id}`, { tags: ['kept'] });
    await gateway.call('PUT', `/proxies/${full.id}`, { tags: many });
    const ids = [first.id, full.id];
    const tag = (action: string, tags?: unknown) => gateway.call('POST', '/proxies/batch', { action, ids, tags });
    const tagsOf = async (id: number) => (await page()).items.find((node) => node.id === id)?.tags;
    const { body } = await tag('tag', ['new', ' new ', 'kept']);
    expect(body).toMatchObject({ done: [first.id], failed: [{ id: full.id, code: 'CONFLICT' }] });
    expect(await tagsOf(first.id)).toEqual(['kept', 'new']);
    expect(await tagsOf(full.id)).toEqual(many);
    expect((await tag('untag', ['kept', 'tag 0'])).body).toMatchObject({ done: ids, failed: [] });
    expect(await tagsOf(first.id)).toEqual(['new']);
    expect(await tagsOf(full.id)).toEqual(many.slice(1));
    for (const tags of [undefined, [], [' '], 'new', ['a\nb']]) {
      const refused: Answer = await tag('tag', tags);
      expect([refused.status, refused.body.details[0].field]).toEqual([400, 'tags']);
    }
  });

  it.each([
    ['an unknown action', 'explode', [1], 'action'],
    ['no node', 'enable', [], 'ids'],
    ['ids that are no numbers', 'enable', ['1'], 'ids'],
    ['too many nodes', 'enable', Array.from({ length: 501 }, (_, index) => index + 1), 'ids'],
  ])('refuses %s', async (_what, action, ids, field) => {
    const { status, body }: Answer = await batch(action, ids);
    expect([status, body.details[0].field]).toEqual([400, field]);
  });
});

describe('several nodes in one transaction', () => {
  it('are locked in the order of their ids, whatever order is requested', async () => {
    const ids: number[] = [];
    for (const password of ['first', 'second']) ids.push((await add(shadowsocksLink(password))).body.id);
    const [low = 0, high = 0] = ids.toSorted((a, b) => a - b);
    const sql = gateway.app.app.get(DataSource);
    const { second } = await sql.transaction(async (tx) => {
      await lockNodes(tx, [high]);
      const second = sql.transaction((other) => lockNodes(other, [high, low]));
      // It waits for the higher one while it holds the lower one, so two such transactions cannot deadlock.
      const isFree = 'SELECT id FROM nodes WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED';
      await waitFor(async () => ((await sql.query(isFree, [low])) as unknown[]).length === 0);
      return { second };
    });
    await second;
  });
});
