import { parseProfile, parseSubscription } from '@gatehouse/subscription-formats';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';

const REALITY =
  'vless://11111111-2222-4333-8444-555555555555@r.example:443?security=reality&sni=s.example&pbk=jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0&fp=chrome#Seoul';
const LINKS = [
  'trojan://secret-one@one.example:443#Tokyo 10 | IPLC',
  'ss://YWVzLTEyOC1nY206c2VjcmV0@two.example:8388#Tokyo 2',
  REALITY,
  'socks5://u:p@four.example:1080#Spare',
];
const STEPS = [
  { do: 'drop', name: 'spare' },
  { do: 'rename', pattern: String.raw`\s*\|.*`, replacement: '' },
  { do: 'sort', by: 'name' },
];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ API_RATE_LIMIT: '0' });
  const { body } = await gateway.call('POST', '/proxies/import', { text: LINKS.join('\n') });
  expect(body).toMatchObject({ created: 4 });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function publish(more: object = {}): Promise<AnyJson> {
  const { status, body } = await gateway.call('POST', '/publications', { name: '手机 phones', steps: STEPS, ...more });
  expect([status, body]).toEqual([201, expect.objectContaining({ token: expect.stringMatching(/^gsubk_/) })]);
  return body;
}

const fetchAt = (path: string, query = '', headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.app.url}${path}${query}`, { headers });
const namesIn = (text: string): string[] => parseSubscription(text).nodes.map(({ node }) => node.name);

describe('the address of a publication', () => {
  it('gives clients what the steps chose, in the format that they read', async () => {
    const { path } = await publish();
    const clash = await fetchAt(path, '', { 'user-agent': 'clash-verge/v2.4.2' });
    expect(clash.headers.get('content-type')).toBe('text/yaml; charset=utf-8');
    const text = await clash.text();
    expect(namesIn(text)).toEqual(['Seoul', 'Tokyo 2', 'Tokyo 10']);
    expect(parseProfile(text)).toMatchObject({
      groups: expect.arrayContaining([
        expect.objectContaining({ name: 'PROXY', type: 'select' }),
        expect.objectContaining({ name: '🇯🇵 Japan', type: 'url-test', proxies: ['Tokyo 2', 'Tokyo 10'] }),
      ]),
      rules: ['MATCH,PROXY', 'MATCH,REJECT'],
    });
    const surge = await (await fetchAt(path, '?target=surge')).text();
    expect(surge).toMatch(
      /^#!MANAGED-CONFIG http:\/\/127\.0\.0\.1:\d+\/api\/v1\/sub\/gsubk_\w+\?target=surge interval=43200/,
    );
    expect(surge).toContain('# left out: 1 × node_type vless: Seoul');
    expect(namesIn(surge)).toEqual(['Tokyo 2', 'Tokyo 10']);
    const base64 = await (await fetchAt(path)).text();
    expect(namesIn(base64)).toEqual(['Seoul', 'Tokyo 2', 'Tokyo 10']);
    const lines = await (await fetchAt(path, '?target=loon&only=nodes')).text();
    expect(lines).not.toContain('[Proxy');
  });

  it.each(['clash', 'sing-box', 'surge', 'loon', 'quantumult-x', 'base64', 'links'])(
    'as %s reads back as the same nodes',
    async (target) => {
      const { path } = await publish({ steps: [{ do: 'keep', types: ['trojan', 'ss'] }] });
      const nodes = parseSubscription(await (await fetchAt(path, `?target=${target}`)).text()).nodes;
      const stored = parseSubscription(LINKS.slice(0, 2).join('\n')).nodes;
      expect(nodes.map(({ fingerprint }) => fingerprint)).toEqual(stored.map(({ fingerprint }) => fingerprint));
    },
  );

  it('names the file, says how often to come again, and answers 304 to what is known', async () => {
    const { path } = await publish({ update_interval_sec: 7_200 });
    const first = await fetchAt(path, '?target=clash');
    expect(first.headers.get('content-disposition')).toBe(
      `attachment; filename="_ phones.yaml"; filename*=UTF-8''%E6%89%8B%E6%9C%BA%20phones.yaml`,
    );
    expect(first.headers.get('profile-update-interval')).toBe('2');
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const etag = first.headers.get('etag')!;
    const again = await fetchAt(path, '?target=clash', { 'if-none-match': `"other", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await fetchAt(path, '?target=sing-box', { 'if-none-match': etag });
    expect(other.status).toBe(200);
  });
});

describe('the quota that clients are shown', () => {
  it('is that of the subscriptions that the nodes come from, or of one, or none', async () => {
    await using provider = await startProvider();
    provider.reply = (_request, response) => {
      response.setHeader('subscription-userinfo', 'upload=1; download=2; total=10; expire=1893456000');
      response.end(shadowsocksLink('quota'));
    };
    const body = { name: 'Provider', url: provider.url, allow_private: true };
    const { body: subscription } = await gateway.call('POST', '/subscriptions', body);
    await gateway.call('POST', `/subscriptions/${subscription.id}/refresh`);
    const shown = async (more: object): Promise<string | null> => {
      const { path } = await publish(more);
      return (await fetchAt(path)).headers.get('subscription-userinfo');
    };
    const quota = 'upload=1; download=2; total=10; expire=1893456000';
    expect(await shown({ sources: { subscription_ids: [subscription.id] } })).toBe(quota);
    expect(await shown({ sources: { manual: true } })).toBeNull();
    expect(await shown({ sources: { manual: true }, userinfo: String(subscription.id) })).toBe(quota);
    expect(await shown({ userinfo: 'none' })).toBeNull();
    await gateway.call('DELETE', `/subscriptions/${subscription.id}`);
  });
});

describe('a token', () => {
  it('is stored as its digest only, shown once, and in no log', async () => {
    const { id, token, path } = await publish();
    expect((await fetchAt(path)).status).toBe(200);
    const { body: view } = await gateway.call('GET', `/publications/${id}`);
    expect(JSON.stringify(view)).not.toContain(token);
    expect(view.last_four).toBe(token.slice(-4));
    const { body: logs } = await gateway.call('GET', '/runtime-logs?limit=500');
    expect(JSON.stringify(logs)).not.toContain(token);
    const { body: audit } = await gateway.call('GET', '/audit-logs?limit=50');
    expect(JSON.stringify(audit)).not.toContain(token);
    expect(audit.items).toContainEqual(expect.objectContaining({ action: 'publication.create' }));
  });

  it('that was renewed, or whose publication is off, expired or deleted, is unknown like any other', async () => {
    const { id, path } = await publish();
    const unknown = await (await fetchAt('/api/v1/sub/gsubk_nonsense')).json();
    const { body: renewed } = await gateway.call('POST', `/publications/${id}/token`);
    const gone = async (where: string): Promise<void> => {
      const answer = await fetchAt(where);
      expect([answer.status, (await answer.json()).message]).toEqual([404, unknown.message]);
    };
    await gone(path);
    expect((await fetchAt(renewed.path)).status).toBe(200);
    await gateway.call('PUT', `/publications/${id}`, { enabled: false });
    await gone(renewed.path);
    await gateway.call('PUT', `/publications/${id}`, {
      enabled: true,
      expires_at: new Date(Date.now() + 300).toISOString(),
    });
    await waitFor(async () => (await fetchAt(renewed.path)).status === 404);
    await gateway.call('PUT', `/publications/${id}`, { expires_at: null });
    expect((await fetchAt(renewed.path)).status).toBe(200);
    expect((await gateway.call('DELETE', `/publications/${id}`)).body).toEqual({ id, deleted: true });
    await gone(renewed.path);
  });

  it('has limits of its own: addresses and fetches', async () => {
    const { id, path } = await publish({ fetches_per_hour: 2, allowed_addresses: ['203.0.113.0/24'] });
    expect((await fetchAt(path)).status).toBe(404);
    await gateway.call('PUT', `/publications/${id}`, { allowed_addresses: ['127.0.0.0/8', '::1'] });
    expect((await fetchAt(path)).status).toBe(200);
    expect((await fetchAt(path)).status).toBe(200);
    const refused = await fetchAt(path);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    const { body } = await gateway.call('GET', `/publications/${id}`);
    expect(body.fetch_count).toBe(2);
    await waitFor(async () => (await gateway.call('GET', `/publications/${id}`)).body.last_used_ip !== null, {
      timeoutMs: 10_000,
    });
  });
});

describe('what is published', () => {
  it('follows the groups and rules that are in force', async () => {
    const { path } = await publish({ template: 'rules' });
    await gateway.call('POST', '/rules', { type: 'DOMAIN-SUFFIX', payload: 'blocked.example', target: 'REJECT' });
    const profile = parseProfile(await (await fetchAt(path, '?target=clash')).text());
    expect(profile.rules).toEqual([
      'DOMAIN-SUFFIX,blocked.example,REJECT',
      expect.stringMatching(/^MATCH,/),
      'MATCH,REJECT',
    ]);
    expect(profile.groups.map(({ name }) => name)).toContain('PROXY');
  });

  it('is shown beforehand, with what a target cannot express', async () => {
    const { body } = await gateway.call('POST', '/publications/preview', { target: 'quantumult-x', steps: STEPS });
    expect(body).toMatchObject({
      sources_total: 4,
      selected_total: 3,
      nodes: 3,
      names: ['Seoul', 'Tokyo 2', 'Tokyo 10'],
    });
    expect(body.document).toContain('[server_local]');
    const { body: surge } = await gateway.call('POST', '/publications/preview', { target: 'surge', steps: STEPS });
    expect(surge.remarks).toContainEqual({
      outcome: 'left_out',
      reason: 'node_type',
      field: 'vless',
      count: 1,
      examples: ['Seoul'],
    });
  });

  it.each([
    [{ steps: [{ do: 'rename', pattern: '(?<=a)b' }] }, 'steps.0'],
    [{ steps: [{ do: 'limit' }] }, 'steps.0.count'],
    [{ steps: [{ do: 'rename' }] }, 'steps.0.pattern'],
    [{ allowed_addresses: ['nowhere'] }, 'allowed_addresses.0'],
    [{ userinfo: 'all' }, 'userinfo'],
    [{ expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
  ])('is refused with the field that is wrong: %j', async (body, field) => {
    const answer = await gateway.call('POST', '/publications', { name: 'a', ...body });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toContainEqual(expect.objectContaining({ field }));
  });
});

it('a publication is changed only as it was read, if the change says so', async () => {
  const { id, path } = await publish();
  const { etag } = Object.fromEntries((await gateway.call('GET', `/publications/${id}`)).headers);
  const put = (name: string, tag: string) => gateway.call('PUT', `/publications/${id}`, { name }, { 'if-match': tag });
  await fetchAt(path);
  const first = await put('first', `W/"x", ${etag}`);
  expect([first.status, first.body.name]).toEqual([200, 'first']);
  expect(first.headers.get('etag')).not.toBe(etag);
  const second = await put('second', etag!);
  expect([second.status, second.body.code]).toEqual([412, 'PRECONDITION_FAILED']);
  expect((await put('third', '*')).status).toBe(200);
  expect((await gateway.call('GET', `/publications/${id}`)).body.name).toBe('third');
});
