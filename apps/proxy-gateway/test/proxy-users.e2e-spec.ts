import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { NodeView, TrafficLogListResponse } from '@gatehouse/contracts';
import { ByteReader, decodeSocksDatagram, encodeSocksDatagram } from '@gatehouse/net';
import { createProxyKernel } from '@gatehouse/proxy-kernel';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import type { HttpOrigin } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let origin: HttpOrigin;
let [tokyo, osaka, paris]: UpstreamProxy[] = [];
const ids: Record<string, number> = {};

beforeAll(async () => {
  gateway = await startGateway({ PROXY_KERNEL_USERS: 'ann:right' });
  origin = await startHttpOrigin();
  [tokyo, osaka, paris] = [await startUpstreamProxy(), await startUpstreamProxy(), await startUpstreamProxy()];
  await addNode('JP Tokyo', tokyo);
  await addNode('JP Osaka', osaka);
  await addNode('FR Paris', paris);
  // Everything without wishes stays on this machine.
  await gateway.call('PUT', '/outbound/default-policy', { policy: 'DIRECT' });
  await waitFor(async () => ((await visit('ann-node-FR%20Paris')).status === 200 ? true : undefined));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [origin, tokyo!, osaka!, paris!]) await server[Symbol.asyncDispose]();
});

async function addNode(name: string, proxy: UpstreamProxy): Promise<void> {
  const raw = `http://127.0.0.1:${proxy.port}#${encodeURIComponent(name)}`;
  const { status, body } = await gateway.call<NodeView>('POST', '/proxies', { raw_config: raw });
  expect([status, body.country]).toEqual([201, name.slice(0, 2)]);
  ids[name] = body.id;
}

interface Visit {
  status: number;
  body: string;
  /** How often each node was used for it: Tokyo, Osaka, Paris. */
  carried: number[];
}

const used = (): number[] => [tokyo!, osaka!, paris!].map(({ targets }) => targets.length);

async function visit(user: string, port = gateway.proxyPort): Promise<Visit> {
  const before = used();
  const authorization = `Basic ${Buffer.from(`${user}:right`).toString('base64')}`;
  const options = { host: '127.0.0.1', port, path: `${origin.url}/`, agent: false };
  const asked = request({ ...options, headers: { 'proxy-authorization': authorization } });
  const [reply] = await once(asked.end(), 'response');
  const body = await text(reply);
  return { status: reply.statusCode, body, carried: used().map((count, index) => count - before[index]!) };
}

/** SOCKS5: the status of the login and, behind it, of CONNECT. */
async function socks(user: string): Promise<number[]> {
  const socket = connect(gateway.proxyPort, '127.0.0.1');
  socket.on('error', () => undefined);
  const [name, secret, reader] = [Buffer.from(user), Buffer.from('right'), new ByteReader(socket)];
  socket.write(Buffer.from([5, 1, 2, 1, name.length, ...name, secret.length, ...secret]));
  await reader.read(2);
  const login = (await reader.read(2))[1]!;
  if (login !== 0) return [login];
  const port = Number(new URL(origin.url).port);
  socket.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
  const reply = (await reader.read(10))[1]!;
  socket.destroy();
  return [login, reply];
}

/** A node that carries UDP, and how many flows of it have come there. */
async function startUdpNode(name: string) {
  const kernel = createProxyKernel({
    now: Date.now,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    resolver: { resolve: () => Promise.resolve([]) },
    country: () => null,
  });
  const listener = { name: 'in', type: 'socks', address: '127.0.0.1', port: 0 } as const;
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [listener],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
  });
  const node = { name, type: 'socks5', server: '127.0.0.1', port: listeners[0]!.port, udp: true };
  const { status, body } = await gateway.call<NodeView>('POST', '/proxies', { raw_config: JSON.stringify(node) });
  expect([status, body.udp]).toEqual([201, true]);
  return {
    flows: () => kernel.status().openedTotal,
    remove: async () => {
      await gateway.call('DELETE', `/proxies/${body.id}`);
      await kernel.close();
    },
  };
}

/** What comes back for a datagram from a SOCKS client with this login, or `refused` if the log says so. */
async function datagram(user: string, to: number): Promise<string> {
  const socket = connect(gateway.proxyPort, '127.0.0.1');
  const udp = createSocket('udp4');
  try {
    const [name, secret, reader] = [Buffer.from(user), Buffer.from('right'), new ByteReader(socket)];
    socket.write(Buffer.from([5, 1, 2, 1, name.length, ...name, secret.length, ...secret]));
    await reader.read(4);
    socket.write(Buffer.from([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
    const relay = (await reader.read(10)).readUInt16BE(8);
    await once(udp.bind(0, '127.0.0.1'), 'listening');
    const client = socket.localPort;
    const answered = once(udp, 'message').then(([bytes]) => String(decodeSocksDatagram(bytes, String)!.payload));
    udp.send(encodeSocksDatagram({ host: '127.0.0.1', port: to }, Buffer.from('ping'))!, relay, '127.0.0.1');
    const refused = waitFor(async () => {
      if (socket.destroyed) return 'over';
      const { body } = await gateway.call<TrafficLogListResponse>('GET', '/traffic-logs?limit=20');
      const own = body.items.find(({ client_port: port }) => port === client);
      return own?.status === 'failed' ? 'refused' : undefined;
    });
    return await Promise.race([answered, refused]);
  } finally {
    socket.destroy();
    udp.close();
  }
}

it('leads a user out where the name in its login says', async () => {
  expect((await visit('ann')).carried).toEqual([0, 0, 0]);
  expect((await visit('ann-country-fr')).carried).toEqual([0, 0, 1]);
  expect((await visit(`ann-node-${ids['JP Osaka']}`)).carried).toEqual([0, 1, 0]);
  expect((await visit('ann-group-FR')).carried).toEqual([0, 0, 1]);
  const before = used();
  expect(await socks('ann-country-fr')).toEqual([0, 0]);
  expect(used()[2]).toBe(before[2]! + 1);
});

it('keeps a session at its node, through a reload and until the node is gone', async () => {
  const first = await visit('ann-country-jp-session-a1');
  for (let count = 0; count < 6; count += 1) {
    expect((await visit('ann-country-jp-session-a1')).carried).toEqual(first.carried);
  }
  expect((await gateway.call('POST', '/system/reload')).status).toBe(200);
  expect((await visit('ann-country-jp-session-a1')).carried).toEqual(first.carried);

  const gone = first.carried[0] === 1 ? 'JP Tokyo' : 'JP Osaka';
  expect((await gateway.call('PUT', `/proxies/${ids[gone]}`, { enabled: false })).status).toBe(200);
  const moved = await waitFor(async () => {
    const { carried } = await visit('ann-country-jp-session-a1');
    return carried.join() === first.carried.join() ? undefined : carried;
  });
  expect(moved).toEqual(gone === 'JP Tokyo' ? [0, 1, 0] : [1, 0, 0]);
  await gateway.call('PUT', `/proxies/${ids[gone]}`, { enabled: true });
  await waitFor(async () => (await visit(`ann-node-${ids[gone]}`)).status === 200 || undefined);
  expect((await visit('ann-country-jp-session-a1')).carried).toEqual(moved);
});

it('refuses what it cannot do, and says why', async () => {
  expect(await visit('ann-country-de')).toMatchObject({ status: 502, body: 'there is no such node: country-de\n' });
  expect(await visit('ann-city-tokyo')).toMatchObject({
    status: 407,
    body: 'in the user name, "city" is none of country, group, node, session, ttl\n',
  });
  expect(await socks('ann-city-tokyo')).toEqual([1]);
  const line = await waitFor(async () => {
    const { body } = await gateway.call('GET', '/logs?search=user%20name&source=kernel');
    return body.items[0];
  });
  expect(line).toMatchObject({
    level: 'warning',
    fields: { user: 'ann', problem: '"city" is none of country, group, node, session, ttl' },
  });
});

it('shows user and wishes in the traffic log', async () => {
  await visit('ann-country-fr-session-log1');
  const logged = await waitFor(async () => {
    const { body } = await gateway.call('GET', '/traffic-logs?keyword=session-log1');
    return body.items[0];
  });
  expect(logged).toMatchObject({
    inbound_user: 'ann',
    node_name: 'FR Paris',
    rule_id: null,
    rule_type: 'WISH',
    rule_payload: 'country-fr-session-log1',
  });
});

describe('the test of rules', () => {
  const test = async (body: Record<string, unknown>) => {
    const { status, body: answer } = await gateway.call('POST', '/rules/test', { url: 'http://a.test/', ...body });
    return { status, ...answer };
  };

  it('says where a user with these wishes would leave, and keeps no session for it', async () => {
    expect(await test({})).toMatchObject({ target: 'DIRECT', refusal: null });
    expect(await test({ user: 'ann' })).toMatchObject({ target: 'DIRECT', refusal: null });
    expect(await test({ user: 'ann-country-fr' })).toMatchObject({
      rule: { type: 'WISH', payload: 'country-fr' },
      node: { name: 'FR Paris' },
      chain: ['FR Paris'],
    });
    const first = await visit('ann-country-jp-session-tested');
    const { node } = await test({ user: 'ann-country-jp-session-tested' });
    expect(node.name).toBe(first.carried[0] === 1 ? 'JP Tokyo' : 'JP Osaka');
  });

  it('says why a flow would be refused', async () => {
    const none = 'there is no such node: country-de';
    expect(await test({ user: 'ann-country-de' })).toMatchObject({
      status: 200,
      refusal: none,
      outbound_type: 'reject',
    });
    const details = async (user: string) => (await test({ user })).details;
    expect(await details('eve')).toEqual([
      { field: 'user', message: 'is not the name of a user of the proxy that can log in' },
    ]);
    expect(await details('ann-city-tokyo')).toEqual([
      { field: 'user', message: '"city" is none of country, group, node, session, ttl' },
    ]);
  });
});

it('leads UDP out where the login says, and a session keeps its node for it', async () => {
  const far = await Promise.all(['JP', 'FR'].map((country) => startUdpNode(`${country} datagrams`)));
  const echo = createSocket('udp4');
  echo.on('message', (bytes, { port, address }) => echo.send(bytes, port, address));
  await once(echo.bind(0, '127.0.0.1'), 'listening');
  try {
    const [jp, fr] = far.map(({ flows }) => flows);
    await waitFor(async () =>
      (await datagram('ann-node-FR%20datagrams', echo.address().port)) === 'ping' ? true : undefined,
    );
    expect([jp!(), fr!()]).toEqual([0, 1]);
    expect(await datagram('ann-node-JP%20datagrams-session-udp', echo.address().port)).toBe('ping');
    expect([jp!(), fr!()]).toEqual([1, 1]);
    // HTTP nodes carry no datagrams, so none of these may leave by one.
    expect(await datagram('ann-node-FR%20Paris', echo.address().port)).toBe('refused');
    for (let count = 0; count < 4; count += 1) {
      expect(await datagram('ann-country-fr', echo.address().port)).toBe('ping');
    }
    expect([jp!(), fr!()]).toEqual([1, 5]);
  } finally {
    echo.close();
    for (const node of far) await node.remove();
  }
});

it('leads out by the group of a port of its own', async () => {
  const set = (value: string) => gateway.call('PUT', '/settings', { 'kernel.listen.groups': value });
  expect((await set('127.0.0.1:0=FR 127.0.0.1:0=Not%20there')).status).toBe(200);
  const listener = (name: string) =>
    waitFor(async () => (await gateway.kernel.status()).listeners.find((each) => each.name === name));
  const [french, nowhere] = [await listener('group-FR'), await listener('group-Not there')];
  expect(await visit('ann', french.port)).toMatchObject({ status: 200, carried: [0, 0, 1] });
  expect(await visit('ann-country-jp', french.port)).toMatchObject({ status: 502, carried: [0, 0, 0] });
  expect((await visit('ann', nowhere.port)).body).toBe('there is no such group: group-Not%20there\n');
  expect((await set('')).status).toBe(200);

  for (const value of [':7901', ':7901=', ':70000=FR', '=FR', ':1=FR :2=FR', ':1=%zz']) {
    const { status, body } = await set(value);
    expect([status, body.details?.[0]?.field], value).toEqual([400, 'kernel.listen.groups']);
  }
});
