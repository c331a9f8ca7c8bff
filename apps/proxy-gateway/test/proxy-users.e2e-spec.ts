import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { NodeView } from '@gatehouse/contracts';
import { ByteReader } from '@gatehouse/net';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import type { HttpOrigin } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
