import type { Socket } from 'node:net';
import type { NodeView, OutboundOverview } from '@gatehouse/contracts';
import { startHttpOrigin, startTcpEcho, waitFor } from '@gatehouse/testing';
import type { HttpOrigin, TcpEcho } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Preferences } from '../src/preferences/preferences.service.js';
import { listeningPort, startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';
import { echo, getThrough, tunnelThrough } from './support/proxy-client.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let provider: Provider;
let origin: HttpOrigin;
let tcp: TcpEcho;
let [tokyo, paris]: UpstreamProxy[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  provider = await startProvider();
  origin = await startHttpOrigin();
  tcp = await startTcpEcho();
  [tokyo, paris] = [await startUpstreamProxy(), await startUpstreamProxy()];
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [provider, origin, tcp, tokyo!, paris!]) await server[Symbol.asyncDispose]();
});

const overview = async () => (await gateway.call<OutboundOverview>('GET', '/outbound')).body;
const group = async () => (await overview()).groups[0]!;
const choose = (proxy: string, query = '') => gateway.call('PUT', `/outbound/groups/PROXY${query}`, { proxy });
const nodes = async () => (await gateway.call<{ items: NodeView[] }>('GET', '/proxies?limit=500')).body.items;
const idOf = async (name: string) => (await nodes()).find((node) => node.name === name)!.id;
const link = (proxy: UpstreamProxy, name: string) => `http://127.0.0.1:${proxy.port}#${name}`;
/** An error before the close is one way of ending. */
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));
let subscription: number;

async function refresh(...lines: string[]): Promise<void> {
  provider.list(...lines);
  expect((await gateway.call('POST', `/subscriptions/${subscription}/refresh?force=true`)).body.status).toBe('updated');
}

beforeEach(async () => {
  const body = { name: 's', url: provider.url, type: 'links', interval_sec: 3600, enabled: true, allow_private: true };
  subscription = (await gateway.call('POST', '/subscriptions', body)).body.id;
  await refresh(link(tokyo!, 'Tokyo'), link(paris!, 'Paris'));
});
afterEach(async () => {
  await gateway.call('DELETE', `/subscriptions/${subscription}`);
  await gateway.call('PUT', '/outbound/default-policy', { policy: 'PROXY' });
  for (const { targets } of [tokyo!, paris!]) targets.length = 0;
});

const member = (name: string, type: string) => ({
  name,
  proxy: name,
  node_id: null as number | null,
  type,
  country: null as string | null,
  subscription_name: null as string | null,
  alive: null,
  delay_ms: null,
});
const UNUSED = {
  profile_name: null,
  subscription_id: null,
  fixed: false,
  listed: [],
  filter: null,
  exclude: null,
  include_countries: false,
  country: null,
  automatic: false,
  test_url: null,
  expected_status: null,
  interval_sec: null,
  tolerance_ms: null,
  lazy: true,
  strategy: null,
  udp: false,
  hidden: false,
  icon: null,
  empty_fallback: 'REJECT',
  active_connections: expect.any(Number),
  upload_total: expect.any(Number),
  download_total: expect.any(Number),
  last_switch: null,
};
const MEASURING = {
  test_url: 'https://www.gstatic.com/generate_204',
  expected_status: '204',
  interval_sec: 300,
};

describe('GET /outbound', () => {
  it('finds the groups of a node, and the subscription of each member', async () => {
    const id = await idOf('Paris');
    const { body } = await gateway.call<OutboundOverview>('GET', `/outbound?member=n${id}&members_limit=500`);
    expect(body.groups.map(({ name }) => name)).toEqual(['PROXY', 'AUTO', 'FALLBACK', 'BALANCE', 'FR']);
    expect(body.groups[4]!.members).toMatchObject([{ name: 'Paris', subscription_name: 's' }]);
    expect((await gateway.call('GET', '/outbound?member=n999999')).body.groups).toEqual([]);
  });

  it('shows the group of all nodes, the policies and the kernel', async () => {
    const [one, two] = await nodes();
    const tokyoCard = {
      ...member('Tokyo', 'http'),
      proxy: `n${one!.id}`,
      node_id: one!.id,
      country: 'JP',
      subscription_name: 's',
    };
    const parisCard = {
      ...member('Paris', 'http'),
      proxy: `n${two!.id}`,
      node_id: two!.id,
      country: 'FR',
      subscription_name: 's',
    };
    expect(await overview()).toEqual({
      mode: 'rule',
      default_policy: 'PROXY',
      policies: ['PROXY', 'AUTO', 'FALLBACK', 'BALANCE', 'FR', 'JP', 'DIRECT', 'REJECT', 'REJECT-DROP'],
      kernel: { type: 'embedded', version: expect.any(String), state: 'running' },
      groups: [
        {
          ...UNUSED,
          name: 'PROXY',
          type: 'select',
          now: 'AUTO',
          now_proxy: 'AUTO',
          fixed: false,
          all: ['AUTO', 'FALLBACK', 'BALANCE', 'FR', 'JP', 'Tokyo', 'Paris', 'DIRECT', 'REJECT'],
          members: [
            member('AUTO', 'url-test'),
            member('FALLBACK', 'fallback'),
            member('BALANCE', 'load-balance'),
            member('FR', 'url-test'),
            member('JP', 'url-test'),
            tokyoCard,
            parisCard,
            member('DIRECT', 'direct'),
            member('REJECT', 'reject'),
          ],
          members_total: 9,
          listed: ['AUTO', 'FALLBACK', 'BALANCE', 'DIRECT', 'REJECT'],
          filter: {},
          include_countries: true,
          last_switch: expect.toSatisfy((value) => value === null || typeof value === 'object'),
        },
        ...(['AUTO', 'FALLBACK', 'BALANCE'] as const).map((name) => ({
          ...UNUSED,
          ...MEASURING,
          name,
          type: { AUTO: 'url-test', FALLBACK: 'fallback', BALANCE: 'load-balance' }[name],
          now: name === 'BALANCE' ? null : 'Tokyo',
          now_proxy: name === 'BALANCE' ? null : tokyoCard.proxy,
          all: ['Tokyo', 'Paris'],
          members: [tokyoCard, parisCard],
          members_total: 2,
          filter: {},
          lazy: false,
          tolerance_ms: name === 'AUTO' ? 100 : null,
          strategy: name === 'BALANCE' ? 'consistent-hashing' : null,
          last_switch: expect.toSatisfy((value) => value === null || typeof value === 'object'),
        })),
        ...[parisCard, tokyoCard].map((card) => ({
          ...UNUSED,
          ...MEASURING,
          name: card.country,
          type: 'url-test',
          now: card.name,
          now_proxy: card.proxy,
          all: [card.name],
          members: [card],
          members_total: 1,
          filter: { countries: [card.country] },
          country: card.country,
          automatic: true,
          tolerance_ms: 100,
        })),
      ],
      builtin: ['DIRECT', 'REJECT', 'REJECT-DROP'],
    });
  });
});

describe('PUT /outbound/groups/{name}', () => {
  it('sends new connections through the chosen node', async () => {
    expect((await getThrough(gateway.proxyPort, `${origin.url}/`)).body.toString()).toBe('ok');
    expect([tokyo!.targets.length, paris!.targets.length]).toEqual([1, 0]);
    const paris_id = await idOf('Paris');
    const { status, body } = await choose('Paris');
    expect([status, body]).toEqual([
      200,
      {
        name: 'PROXY',
        type: 'select',
        now: 'Paris',
        now_proxy: `n${paris_id}`,
        fixed: true,
        previous: 'AUTO',
        closed_connections: 0,
      },
    ]);
    await getThrough(gateway.proxyPort, `${origin.url}/`);
    expect([tokyo!.targets.length, paris!.targets.length]).toEqual([1, 1]);
    expect(await group()).toMatchObject({
      now: 'Paris',
      fixed: true,
      last_switch: { from: 'AUTO', to: 'Paris', reason: 'manual' },
    });
  });

  it('needs no new generation of the kernel', async () => {
    const before = (await gateway.kernel.status()).generation;
    await choose('Paris');
    await choose('Tokyo');
    expect((await gateway.kernel.status()).generation).toBe(before);
  });

  it('accepts an id, a tag, a name and a built-in', async () => {
    const id = await idOf('Paris');
    for (const word of [`n${id}`, `${id}`, 'Paris']) {
      await choose('DIRECT');
      expect((await choose(word)).body).toMatchObject({ now: 'Paris', previous: 'DIRECT' });
    }
    await choose('DIRECT');
    await getThrough(gateway.proxyPort, `${origin.url}/`);
    expect([...tokyo!.targets, ...paris!.targets]).toEqual([]);
  });

  it('reports clearly what does not work', async () => {
    const missing = await gateway.call('PUT', '/outbound/groups/NOPE', { proxy: 'DIRECT' });
    expect([missing.status, missing.body.code]).toEqual([404, 'NOT_FOUND']);
    expect(await choose('Nowhere')).toMatchObject({ status: 422, body: { code: 'UNPROCESSABLE' } });
    expect(await choose('PROXY')).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('not a member') },
    });
    expect(await choose('')).toMatchObject({ status: 400 });
    await gateway.call('PUT', `/proxies/${await idOf('Paris')}`, { name: 'Tokyo' });
    expect(await choose('Tokyo')).toMatchObject({ status: 409, body: { error: expect.stringContaining('2 nodes') } });
    await gateway.call('PUT', `/proxies/${await idOf('Tokyo')}`, { name: 'Off', enabled: false });
    expect(await choose('Off')).toMatchObject({ status: 422, body: { error: 'Off is disabled.' } });
    const { body: external } = await gateway.call('POST', '/proxies', { raw_config: 'hysteria2://p@192.0.2.1:443#T' });
    expect(await choose('T')).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('cannot be dialled') },
    });
    await gateway.call('DELETE', `/proxies/${external.id}`);
  });

  it('survives refreshes, renames and a changed definition', async () => {
    await choose('Paris');
    const id = await idOf('Paris');
    await refresh(link(paris!, 'Paris renamed'), link(tokyo!, 'Tokyo'));
    expect(await group()).toMatchObject({ now: 'Paris renamed', now_proxy: `n${id}`, fixed: true });
    await refresh(
      `http://user:secret@127.0.0.1:${paris!.port}#${encodeURIComponent('Paris renamed')}`,
      link(tokyo!, 'Tokyo'),
    );
    expect(await group()).toMatchObject({ now_proxy: `n${id}`, fixed: true });
  });

  it('falls back inside the group when the chosen node is gone, and reports it', async () => {
    await choose('Paris');
    await refresh(link(tokyo!, 'Tokyo'));
    expect(await group()).toMatchObject({
      now: 'AUTO',
      fixed: false,
      last_switch: { from: 'Paris', to: 'AUTO', reason: 'selected_gone', at: expect.stringMatching(/Z$/) },
    });
    expect(gateway.app.logs).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'PROXY: Paris is gone, AUTO takes over' }),
    );
    await getThrough(gateway.proxyPort, `${origin.url}/`);
    expect(tokyo!.targets).toHaveLength(1);
  });

  it('closes connections of a group that fell back, if configured', async () => {
    await choose('Paris');
    const preferences = gateway.app.app.get(Preferences, { strict: false });
    await preferences.write({ 'switch.close_connections': 'group' });
    const tunnel = await tunnelThrough(gateway.proxyPort, '127.0.0.1', tcp.port);
    const ended = closed(tunnel);
    await refresh(link(tokyo!, 'Tokyo'));
    await ended;
    await preferences.write({ 'switch.close_connections': 'none' });
  });

  it('is still in effect after the kernel was killed', async () => {
    await choose('Paris');
    const { pid } = (await gateway.call('GET', '/system/status')).body.kernel;
    process.kill(pid, 'SIGKILL');
    await waitFor(async () => {
      const { kernel } = (await gateway.call('GET', '/system/status')).body;
      return kernel.pid !== pid && kernel.state === 'running';
    });
    await getThrough(await listeningPort(gateway.kernel), `${origin.url}/`);
    expect(paris!.targets).toHaveLength(1);
    gateway.proxyPort = await listeningPort(gateway.kernel);
  });

  it('closes open connections as requested: none, those of the group, all', async () => {
    const open = () => tunnelThrough(gateway.proxyPort, '127.0.0.1', tcp.port);
    await choose('Paris');
    const kept = await open();
    await choose('AUTO');
    expect(await echo(kept, 'still here')).toBe('still here');
    const other = await open();
    const otherEnded = closed(other);
    expect((await choose('Tokyo', '?close_connections=group')).body.closed_connections).toBe(1);
    await otherEnded;
    // It goes through the group, but not through the member that the group has just left.
    expect(await echo(kept, 'still here too')).toBe('still here too');
    await choose('Paris');
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'DIRECT' });
    const direct = await open();
    const ended = closed(kept);
    expect((await choose('Tokyo', '?close_connections=group')).body.closed_connections).toBe(1);
    await ended;
    expect(await echo(direct, 'not through the group')).toBe('not through the group');
    const all = closed(direct);
    expect((await choose('Paris', '?close_connections=all')).body.closed_connections).toBe(1);
    await all;
    expect((await choose('Tokyo', '?close_connections=some')).status).toBe(400);
  });
});

describe('PUT /outbound/default-policy', () => {
  it('decides where flows without a matching rule go', async () => {
    const { status, body } = await gateway.call('PUT', '/outbound/default-policy', { policy: 'Paris' });
    expect([status, body]).toEqual([
      200,
      { default_policy: 'Paris', proxy: `n${await idOf('Paris')}`, previous: 'PROXY' },
    ]);
    await getThrough(gateway.proxyPort, `${origin.url}/`);
    expect(paris!.targets).toHaveLength(1);
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'REJECT' });
    expect((await overview()).default_policy).toBe('REJECT');
    await expect(tunnelThrough(gateway.proxyPort, '127.0.0.1', tcp.port)).rejects.toThrow();
  });

  it('falls back to PROXY when its node is gone', async () => {
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'Paris' });
    await refresh(link(tokyo!, 'Tokyo'));
    expect((await overview()).default_policy).toBe('PROXY');
    await getThrough(gateway.proxyPort, `${origin.url}/`);
    expect(tokyo!.targets).toHaveLength(1);
  });

  it.each([
    [{ policy: 'Nowhere' }, 422],
    [{ policy: '' }, 400],
    [{}, 400],
    [{ policy: 'DIRECT', other: 1 }, 400],
    [{ policy: null }, 400],
  ])('refuses %j with %d', async (body, status) => {
    expect((await gateway.call('PUT', '/outbound/default-policy', body)).status).toBe(status);
  });
});

it('lets a download run to its last byte while its subscription is refreshed and its group switched', async () => {
  const size = 20_000_000;
  const download = getThrough(gateway.proxyPort, `${origin.url}/bytes/${size}`);
  await waitFor(() => tokyo!.targets.length > 0);
  await refresh(link(paris!, 'Paris'));
  await choose('Paris');
  await gateway.call('POST', '/system/reload');
  expect((await download).body.length).toBe(size);
});
