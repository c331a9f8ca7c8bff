import type { Socket } from 'node:net';
import type { GroupSwitchRecord, OutboundGroupView, Page } from '@gatehouse/contracts';
import { startHttpOrigin, startTcpEcho, waitFor } from '@gatehouse/testing';
import type { HttpOrigin, TcpEcho } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Preferences } from '../src/preferences/preferences.service.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { echo, getThrough, tunnelThrough } from './support/proxy-client.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let origin: HttpOrigin;
let tcp: TcpEcho;
let fast: UpstreamProxy;
let slow: UpstreamProxy;
let ids: { fast: number; slow: number };

beforeEach(async () => {
  gateway = await startGateway();
  [origin, tcp, fast, slow] = [
    await startHttpOrigin(),
    await startTcpEcho(),
    await startUpstreamProxy(),
    await startUpstreamProxy(),
  ];
  ids = { fast: await addNode('fast', fast), slow: await addNode('slow', slow) };
  // Other measurements of this gateway's nodes do not reach these addresses.
  const members = ['slow', 'fast'];
  for (const type of ['url-test', 'fallback']) {
    const body = {
      name: type,
      type,
      members,
      test_url: 'http://192.0.2.1/',
      tolerance_ms: type === 'url-test' ? 0 : null,
    };
    expect((await gateway.call('POST', '/outbound/groups', body)).status).toBe(201);
  }
  await measured({ fast: 10, slow: 900 });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [origin, tcp, fast, slow]) await server[Symbol.asyncDispose]();
});

async function addNode(name: string, proxy: UpstreamProxy): Promise<number> {
  return (await gateway.call('POST', '/proxies', { raw_config: `http://127.0.0.1:${proxy.port}#${name}` })).body.id;
}

/** Null: no answer. */
async function measured(delays: { fast: number | null; slow: number | null }): Promise<void> {
  const state = (delayMs: number | null) => ({ alive: delayMs !== null, delayMs, testedAt: Date.now() });
  const report = { [`n${ids.fast}`]: state(delays.fast), [`n${ids.slow}`]: state(delays.slow) };
  await gateway.kernel.setHealth('http://192.0.2.1/', report);
}

const use = (policy: string) => gateway.call('PUT', '/outbound/default-policy', { policy });
const group = async (name: string) => (await gateway.call<OutboundGroupView>('GET', `/outbound/groups/${name}`)).body;
const history = async (name: string) =>
  (await gateway.call<Page<GroupSwitchRecord>>('GET', `/outbound/groups/${name}/history`)).body.items;
const closing = async (choice: string) =>
  gateway.app.app.get(Preferences, { strict: false }).write({ 'switch.close_connections': choice });
const ended = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

describe('a group that decides on its own', () => {
  it('leaves a node that dies, closes its connections, and records the switch', async () => {
    await use('url-test');
    await closing('group');
    const through = await tunnelThrough(gateway.proxyPort, '127.0.0.1', tcp.port);
    expect(fast.targets).toHaveLength(1);
    expect(await group('url-test')).toMatchObject({ now: 'fast', active_connections: 1 });
    const cut = ended(through);
    fast.stopListening();
    // The node was alive a moment ago: after several failures in a row it is left.
    const answered = await waitFor(async () => {
      const { status } = await getThrough(gateway.proxyPort, `${origin.url}/`);
      return status === 200 || undefined;
    });
    expect(answered).toBe(true);
    expect(slow.targets).toHaveLength(1);
    await cut;
    const [entry] = await waitFor(async () => {
      const entries = (await history('url-test')).filter(({ reason }) => reason === 'dead');
      return entries[0]?.closed_connections ? entries : undefined;
    });
    expect(entry).toMatchObject({
      from: 'fast',
      from_proxy: `n${ids.fast}`,
      to: 'slow',
      to_proxy: `n${ids.slow}`,
      reason: 'dead',
      closed_connections: 1,
    });
    expect(await group('url-test')).toMatchObject({
      now: 'slow',
      fixed: false,
      last_switch: { from: 'fast', to: 'slow', reason: 'dead' },
    });
  });

  it('keeps open connections if configured', async () => {
    await use('fallback');
    await measured({ fast: 10, slow: 900 });
    const through = await tunnelThrough(gateway.proxyPort, '127.0.0.1', tcp.port);
    expect(slow.targets).toHaveLength(1);
    await measured({ fast: 10, slow: null });
    await waitFor(async () => (await history('fallback'))[0]?.reason === 'dead' || undefined);
    expect(await echo(through, 'still here')).toBe('still here');
    await measured({ fast: 10, slow: 20 });
    await waitFor(async () => (await history('fallback'))[0]?.reason === 'recovered' || undefined);
    expect(await echo(through, 'and here')).toBe('and here');
    expect((await history('fallback')).map(({ from, to, reason }) => [from, to, reason])).toEqual([
      ['fast', 'slow', 'recovered'],
      ['slow', 'fast', 'dead'],
    ]);
  });

  it('closes all connections if configured, also for a choice that died', async () => {
    await use('url-test');
    await gateway.call('PUT', '/outbound/groups/url-test', { proxy: 'slow' });
    await closing('all');
    await use('DIRECT');
    const elsewhere = await tunnelThrough(gateway.proxyPort, '127.0.0.1', tcp.port);
    const cut = ended(elsewhere);
    await measured({ fast: 10, slow: null });
    await cut;
    await waitFor(async () => (await history('url-test'))[0]?.reason === 'dead' || undefined);
    // The choice is kept for when it is alive again.
    expect(await group('url-test')).toMatchObject({ now: 'fast', fixed: false });
    await measured({ fast: 10, slow: 30 });
    await waitFor(async () => (await group('url-test')).fixed || undefined);
    const latest = await waitFor(async () => (await history('url-test')).find(({ reason }) => reason === 'recovered'));
    expect(latest).toMatchObject({ from: 'fast', to: 'slow' });
  });

  it('is distinguished from a changed list', async () => {
    await gateway.call('POST', '/outbound/groups', { name: 'list', type: 'select', members: ['fast', 'slow'] });
    await gateway.call('PATCH', '/outbound/groups/list', { members: ['slow', 'fast'] });
    const entry = await waitFor(async () => (await history('list'))[0]);
    expect(entry).toMatchObject({ from: 'fast', to: 'slow', reason: 'members_changed' });
    await gateway.call('DELETE', `/proxies/${ids.slow}`);
    const [next] = await waitFor(async () => {
      const entries = await history('list');
      return entries.length > 1 ? entries : undefined;
    });
    expect(next).toMatchObject({ from: 'slow', to: 'fast', reason: 'selected_gone' });
  });
});
