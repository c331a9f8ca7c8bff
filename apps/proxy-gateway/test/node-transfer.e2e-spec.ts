import type { ImportResult, NodeView } from '@gatehouse/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVERY_NODE, LINKLESS } from './support/every-node.js';
import { startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';

let gateway: Gateway;
let provider: Provider;
let adminKey: string;
beforeAll(async () => {
  gateway = await startGateway();
  provider = await startProvider();
  adminKey = (await gateway.call('POST', '/api-keys', { name: 'all' })).body.key;
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { id } of (await gateway.call('GET', '/subscriptions')).body.items)
    await gateway.call('DELETE', `/subscriptions/${id}`);
  await take({ mode: 'replace', nodes: [] }, '?allow_empty=true');
});

const nodes = async (): Promise<NodeView[]> => (await gateway.call('GET', '/proxies?limit=500')).body.items;
const fingerprints = async () => (await nodes()).map(({ fingerprint }) => fingerprint).sort();
const take = (body: object, query = ''): Promise<Answer<ImportResult>> =>
  gateway.call('POST', `/proxies/import${query}`, body);
const file = (query = '', key = adminKey): Promise<Response> =>
  fetch(`${gateway.app.url}/api/v1/proxies/export${query}`, { headers: { 'x-api-key': key } });

async function subscribed(...lines: string[]): Promise<void> {
  provider.list(...lines);
  const { body } = await gateway.call('POST', '/subscriptions', {
    name: 's',
    url: provider.url,
    allow_private: true,
    interval_sec: 3600,
  });
  await gateway.call('POST', `/subscriptions/${body.id}/refresh`);
}

describe('GET /proxies/export', () => {
  it.each([
    ['', 'application/json', 'json'],
    ['?format=json', 'application/json', 'json'],
    ['?format=links', 'text/plain', 'txt'],
    ['?format=text', 'text/plain', 'txt'],
    ['?format=txt', 'text/plain', 'txt'],
  ])('answers %s as a file to keep', async (query, type, extension) => {
    await take({ nodes: [EVERY_NODE[0]] });
    const response = await file(query);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="nodes-\\d{4}-\\d\\d-\\d\\d\\.${extension}"$`),
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toContain(extension === 'json' ? '"raw_config"' : 'ss://');
  });

  it('refuses an unknown format, an unknown parameter, and credentials that may only read', async () => {
    expect((await file('?format=yaml')).status).toBe(400);
    expect((await file('?limit=1')).status).toBe(400);
    const { body } = await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] });
    const refused = await file('', body.key);
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { code: 'FORBIDDEN', error: expect.stringContaining('write') },
    ]);
  });

  it('contains only nodes added by hand, with the names that users gave', async () => {
    await subscribed(shadowsocksLink('theirs'));
    const { body } = await take({ nodes: [EVERY_NODE[0]] });
    const { id } = body.items[0]!;
    await gateway.call('PUT', `/proxies/${id}`, { name: 'Mine\u{1f600}', enabled: false, country: 'NL' });
    const items = await (await file()).json();
    expect(items).toMatchObject([{ name: 'Mine\u{1f600}', type: 'ss', enabled: false, country: 'NL' }]);
    expect(await (await file('?format=links')).text()).toContain('#Mine%F0%9F%98%80');
  });

  it('is an empty file when there is nothing', async () => {
    expect(await (await file()).json()).toEqual([]);
    expect(await (await file('?format=txt')).text()).toBe('');
  });
});

describe('export and import', () => {
  it.each([
    ['json', (text: string) => ({ text })],
    ['json', (text: string) => ({ nodes: JSON.parse(text) })],
    ['text', (text: string) => ({ text })],
    ['txt', (text: string) => ({ text })],
  ])('bring every kind of node back from %s', async (format, toBody) => {
    const { body: first } = await take({ nodes: EVERY_NODE });
    expect(first).toMatchObject({ created: EVERY_NODE.length, failed: 0, errors: [] });
    const before = await fingerprints();
    const text = await (await file(`?format=${format}`)).text();
    const again = await take(toBody(text));
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: EVERY_NODE.length, errors: [] });
    await take({ mode: 'replace', text: '' }, '?allow_empty=true');
    expect(await nodes()).toEqual([]);
    expect((await take(toBody(text))).body).toMatchObject({ created: EVERY_NODE.length, errors: [] });
    expect(await fingerprints()).toEqual(before);
  });

  it('bring every kind that has a link back from links, and name the others', async () => {
    await take({ nodes: EVERY_NODE });
    const before = await nodes();
    const text = await (await file('?format=links')).text();
    for (const type of LINKLESS) expect(text).toMatch(new RegExp(`^# ${type} .*no share link`, 'm'));
    await take({ mode: 'replace', text: '' }, '?allow_empty=true');
    const { body } = await take({ text: Buffer.from(text).toString('base64') });
    expect(body).toMatchObject({ format_detected: 'base64', created: EVERY_NODE.length - LINKLESS.length, errors: [] });
    const wanted = before.filter(({ type }) => !LINKLESS.includes(type)).map(({ fingerprint }) => fingerprint);
    expect(await fingerprints()).toEqual(wanted.sort());
  });

  it('bring back a text of nothing but nodes without a link', async () => {
    await take({ nodes: EVERY_NODE.filter(({ type }) => LINKLESS.includes(String(type))) });
    const before = await fingerprints();
    const text = await (await file('?format=text')).text();
    await take({ mode: 'replace', text: '' }, '?allow_empty=true');
    expect((await take({ text })).body).toMatchObject({ created: LINKLESS.length, errors: [] });
    expect(await fingerprints()).toEqual(before);
  });

  it('keep the choices of users', async () => {
    const { body } = await take({ nodes: [EVERY_NODE[0]] });
    const { id } = body.items[0]!;
    await gateway.call('PUT', `/proxies/${id}`, { name: 'Mine', enabled: false, country: 'NL' });
    const items = await (await file()).json();
    await take({ mode: 'replace', nodes: [] }, '?allow_empty=true');
    await take({ nodes: items });
    expect(await nodes()).toMatchObject([{ name: 'Mine', enabled: false, country: 'NL', country_source: 'manual' }]);
  });
});

describe('POST /proxies/import', () => {
  const clash = 'proxies:\n  - { name: Y, type: trojan, server: t.example, port: 443, password: p }\n';
  const singBox = {
    tag: 'B',
    type: 'trojan',
    server: 'b.example',
    server_port: 443,
    password: 'p',
    tls: { enabled: true },
  };

  it.each([
    ['links', shadowsocksLink('a'), 'links'],
    ['base64', Buffer.from(shadowsocksLink('a')).toString('base64'), 'base64'],
    ['Clash YAML', clash, 'clash'],
    ['sing-box JSON', JSON.stringify({ outbounds: [singBox, { type: 'direct', tag: 'd' }] }), 'sing-box'],
    ['one entry as JSON', JSON.stringify({ ...EVERY_NODE[0] }), 'json'],
    ['endpoints', '192.0.2.1:3128:user:secret', 'hosts'],
  ])('reads %s', async (_what, text, format) => {
    const { status, body } = await take({ text });
    expect([status, body]).toMatchObject([200, { mode: 'append', format_detected: format, created: 1, failed: 0 }]);
    expect(await nodes()).toMatchObject([{ id: body.items[0]!.id, source: 'manual' }]);
  });

  it('reads objects of all three forms in one list', async () => {
    const { body } = await take({
      nodes: [EVERY_NODE[0], singBox, { name: 'own', type: 'ss', raw_config: shadowsocksLink('a'), tags: ['x'] }],
    });
    expect(body).toMatchObject({ created: 3, items: [{ name: 'ss' }, { name: 'B' }, { name: 'own' }] });
  });

  it('reports the result of every entry, without secrets of bad ones', async () => {
    const lines = [
      shadowsocksLink('a', 'one'),
      '# comment',
      'trojan://SECRET@192.0.2.1:99999',
      shadowsocksLink('a', 'one again'),
      'nonsense',
      shadowsocksLink('b', 'two'),
    ];
    const { body } = await take({ text: lines.join('\n') });
    expect(body).toMatchObject({ total: 5, parsed: 3, created: 2, duplicates: 1, skipped: 2, failed: 2 });
    expect(body.items.map(({ name, action }) => [name, action])).toEqual([
      ['one', 'created'],
      ['one again', 'duplicate'],
      ['two', 'created'],
    ]);
    expect(body.items[1]!.id).toBe(body.items[0]!.id);
    expect(body.errors).toMatchObject([
      { index: 1, line: 3, code: 'invalid_port' },
      { index: 3, line: 5, code: 'unrecognised_line' },
    ]);
    expect(JSON.stringify(body)).not.toContain('SECRET');
  });

  it('rejects only the bad objects', async () => {
    const bad = [
      null,
      'text',
      { type: 'ss' },
      { name: 'x', raw_config: 5 },
      { name: 'x', raw_config: shadowsocksLink('q'), enabled: 'yes' },
      { name: 'x', raw_config: shadowsocksLink('q'), country: 'QQ' },
      { name: 'x', raw_config: shadowsocksLink('q'), tags: 'a' },
      { name: 'x', type: 'trojan', raw_config: shadowsocksLink('q') },
      { name: 'x', type: 'ss', server: '192.0.2.1', port: 1, cipher: 'x', password: 'SECRET', 'udp-over-tcp': 'maybe' },
    ];
    const { body } = await take({ nodes: [...bad, EVERY_NODE[0]] });
    expect(body).toMatchObject({ total: bad.length + 1, created: 1, failed: bad.length });
    expect(body.errors.map(({ index, line }) => [index, line])).toEqual(bad.map((_, index) => [index, null]));
    expect(JSON.stringify(body)).not.toContain('SECRET');
  });

  it('handles broken characters', async () => {
    const raw_config = shadowsocksLink('a', 'a');
    const item = { name: 'half \ud83d and \0 nothing', raw_config, tags: ['\udc00'] };
    for (const expected of [{ created: 1 }, { unchanged: 1 }]) {
      expect(await take({ nodes: [item] })).toMatchObject({ status: 200, body: { failed: 0, ...expected } });
    }
    await subscribed(raw_config);
    expect(await take({ nodes: [{ ...item, name: 'other \ud83d' }] })).toMatchObject({ status: 200 });
    expect(await nodes()).toMatchObject([{ name: 'other \ufffd', tags: ['\ufffd'] }]);
  });

  it('updates existing nodes, and keeps options that a link cannot express', async () => {
    const entry = { ...EVERY_NODE[0], udp: true };
    await take({ nodes: [entry] });
    const [before] = await nodes();
    const link = `ss://${Buffer.from('aes-128-gcm:p:w@d').toString('base64url')}@192.0.2.1:1000#renamed`;
    expect((await take({ text: link })).body).toMatchObject({ updated: 1, items: [{ id: before!.id }] });
    expect(await nodes()).toMatchObject([{ id: before!.id, name: 'renamed', udp: true }]);
    expect((await take({ nodes: [{ ...entry, name: 'renamed', udp: false }] })).body).toMatchObject({ updated: 1 });
    expect(await nodes()).toMatchObject([{ id: before!.id, name: 'renamed', udp: false }]);
  });

  it('makes the node of a subscription manual too, which replacing undoes', async () => {
    await subscribed(shadowsocksLink('a', 'theirs'), shadowsocksLink('b'));
    const { body } = await take({ text: shadowsocksLink('a', 'mine') });
    expect(body).toMatchObject({ updated: 1, created: 0 });
    expect(await nodes()).toMatchObject([
      { name: 'mine', original_name: 'theirs', source: 'manual', sources: [{ name: 'theirs' }] },
      { source: 'subscription' },
    ]);
    const { body: replaced } = await take({ mode: 'replace', text: shadowsocksLink('c') });
    expect(replaced).toMatchObject({ created: 1, removed: 1, items: [{ action: 'created' }, { action: 'removed' }] });
    expect((await nodes()).map(({ source }) => source)).toEqual(['subscription', 'subscription', 'manual']);
  });

  it('replaces in one go and keeps the ids of what stays; the kernel follows', async () => {
    await take({ text: [shadowsocksLink('a'), shadowsocksLink('b')].join('\n') });
    const [a] = await nodes();
    const { body } = await take({ mode: 'replace', text: [shadowsocksLink('a'), shadowsocksLink('c')].join('\n') });
    expect(body).toMatchObject({ created: 1, unchanged: 1, removed: 1 });
    expect((await nodes())[0]!.id).toBe(a!.id);
    const tags = gateway.kernel.config?.outbounds.map(({ tag }) => tag);
    expect(tags).toEqual((await nodes()).map(({ id }) => `n${id}`));
  });

  it('refuses to end without nodes unless allowed', async () => {
    await take({ nodes: [EVERY_NODE[0]] });
    for (const body of [{ text: 'nonsense line\nvless://x' }, { nodes: [] }, { text: '' }, { nodes: [{}] }]) {
      const answer: Answer = await take({ mode: 'replace', ...body });
      expect([answer.status, answer.body.code], JSON.stringify(body)).toEqual([422, 'UNPROCESSABLE']);
    }
    expect(await nodes()).toHaveLength(1);
    expect((await take({ mode: 'replace', nodes: [] }, '?allow_empty=true')).body).toMatchObject({ removed: 1 });
    expect(await nodes()).toEqual([]);
  });

  it.each(['body', 'query'])('changes nothing with dry_run in the %s, and reports what it would do', async (place) => {
    await take({ nodes: [EVERY_NODE[0]] });
    const before = await nodes();
    const body = { mode: 'replace', text: shadowsocksLink('c'), ...(place === 'body' ? { dry_run: true } : {}) };
    const answer = await take(body, place === 'query' ? '?dry_run=true' : '');
    expect(answer.body).toMatchObject({
      dry_run: true,
      created: 1,
      removed: 1,
      items: [
        { id: null, action: 'created' },
        { id: before[0]!.id, action: 'removed' },
      ],
    });
    expect(await nodes()).toEqual(before);
  });

  it.each([
    ['nothing to import', {}, '', 'text'],
    ['a web page', { text: '<!doctype html><html></html>' }, '', 'text'],
    ['an unknown mode', { mode: 'merge', text: '' }, '', 'mode'],
    ['nodes that are no list', { nodes: {} }, '', 'nodes'],
    ['a text that is none', { text: 5 }, '', 'text'],
    ['an unknown field', { text: '', more: 1 }, '', 'more'],
    ['an unknown parameter', { text: '' }, '?more=1', 'more'],
    ['a flag that is none', { text: '' }, '?dry_run=1', 'dry_run'],
  ])('refuses %s', async (_what, body, query, field) => {
    const answer: Answer = await take(body, query);
    expect([answer.status, answer.body.code, answer.body.details[0].field]).toEqual([400, 'INVALID_ARGUMENT', field]);
  });

  it('repeats its answer for the same Idempotency-Key', async () => {
    const once = () =>
      gateway.call('POST', '/proxies/import', { text: shadowsocksLink('a') }, { 'idempotency-key': 'import-1' });
    const first = await once();
    expect(first.body).toMatchObject({ created: 1 });
    const { status, body } = await once();
    expect({ status, body }).toEqual({ status: first.status, body: first.body });
  });

  it('takes ten thousand nodes at once', async () => {
    const text = Array.from({ length: 10_000 }, (_, index) => shadowsocksLink(`p${index}`)).join('\n');
    const { body } = await take({ text });
    expect(body).toMatchObject({ total: 10_000, created: 10_000 });
    expect((await gateway.call('GET', '/proxies?limit=1')).body.total).toBe(10_000);
  }, 30_000);
});
