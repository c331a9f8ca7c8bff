import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { ByteReader } from '@gatehouse/net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProxyKernel, type ConnectionRecord, type KernelConfig, type ProxyKernel } from './index.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const listener = { name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 } as const;
const bare = { mode: 'rule', groups: [], rules: [] } as const;
const users = [
  { username: 'ann', password: 'right' },
  { username: 'ann-lee', password: 'other' },
];

let clock: { offset: number };
let warnings: Record<string, unknown>[];
let records: ConnectionRecord[];
let kernel: ProxyKernel;
let port: number;
let origin: number;
let config: KernelConfig;

async function startKernel(first: KernelConfig): Promise<{ kernel: ProxyKernel; port: number }> {
  const started = createProxyKernel({
    now: () => Date.now() + clock.offset,
    logger: { debug() {}, info() {}, error() {}, warn: (_message, fields = {}) => warnings.push(fields) },
    resolver: { resolve: () => Promise.resolve(['127.0.0.1']) },
    country: () => null,
  });
  cleanups.push(() => started.close());
  const { listeners } = await started.apply(first);
  return { kernel: started, port: listeners[0]?.port ?? 0 };
}

beforeEach(async () => {
  clock = { offset: 0 };
  [warnings, records] = [[], []];
  const server = createServer((_request, response) => response.end('here'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => server.close());
  origin = (server.address() as AddressInfo).port;
  const far = await startKernel({
    ...bare,
    groups: [],
    rules: [],
    listeners: [listener],
    outbounds: [],
    defaultPolicy: 'DIRECT',
  });
  const node = { type: 'socks5', name: 'far', server: '127.0.0.1', port: far.port } as const;
  config = {
    mode: 'rule',
    listeners: [{ ...listener, users }],
    outbounds: [
      { tag: 'n1', node, country: 'jp', names: ['Tokyo-1', '1'] },
      { tag: 'n2', node, country: 'jp', names: ['Osaka', '2'] },
      { tag: 'n3', node, country: 'jp', names: ['Kyoto', '3'] },
      { tag: 'n4', node, country: 'us', names: ['New York', '4'] },
      { tag: 'n5', node: { ...node, type: 'http' }, names: ['Moon', '5'] },
    ],
    groups: [
      { name: 'All', type: 'load-balance', members: ['n1', 'n2', 'n3', 'n4', 'DIRECT'] },
      { name: 'Chosen', type: 'select', members: ['n4', 'All'] },
      { name: 'My pool', type: 'fallback', members: ['n2', 'n3'] },
    ],
    rules: [{ id: 1, source: 'manual', type: 'DOMAIN', payload: 'ads.test', target: 'REJECT' }],
    defaultPolicy: 'DIRECT',
  };
  ({ kernel, port } = await startKernel(config));
  kernel.on('closed', (record) => records.push(record));
});

interface Answer {
  status: number;
  text: string;
}

/** A plain request through the HTTP proxy. */
async function get(user: string, host = 'a.test', password = 'right', at = port): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const asked = request({
    host: '127.0.0.1',
    port: at,
    path: `http://${host}:${origin}/`,
    headers: { 'proxy-authorization': authorization },
    agent: false,
  });
  const [reply] = await once(asked.end(), 'response');
  let text = '';
  for await (const part of reply) text += String(part);
  return { status: reply.statusCode, text: text.trim() };
}

/** SOCKS5: the status of the login, then the reply to CONNECT; -1 if it was not reached. */
async function socks(user: string, password = 'right'): Promise<[login: number, reply: number]> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const [name, secret, host] = [Buffer.from(user), Buffer.from(password), Buffer.from('a.test')];
  const reader = new ByteReader(socket);
  socket.write(Buffer.from([5, 1, 2, 1, name.length, ...name, secret.length, ...secret]));
  await reader.read(2);
  const login = (await reader.read(2))[1] ?? -1;
  if (login !== 0) return [login, -1];
  socket.write(Buffer.from([5, 1, 0, 3, host.length, ...host, origin >> 8, origin & 255]));
  const reply = (await reader.read(10))[1] ?? -1;
  socket.destroy();
  return [login, reply];
}

/** The node of a request that succeeded. */
async function nodeFor(user: string, password = 'right'): Promise<string | null> {
  const before = records.length;
  expect(await get(user, 'a.test', password)).toEqual({ status: 200, text: 'here' });
  await expect.poll(() => records.length).toBe(before + 1);
  return records[before]?.nodeTag ?? null;
}

const dead = (tag: string) => kernel.setHealth(null, { [tag]: { alive: false, delayMs: null, testedAt: clockNow() } });
const alive = (tag: string) => kernel.setHealth(null, { [tag]: { alive: true, delayMs: 5, testedAt: clockNow() } });
const clockNow = (): number => Date.now() + (clock.offset += 1);

describe('a user name with wishes', () => {
  it('leaves by the country, the node or the group that it names, whatever the rules say', async () => {
    expect(await nodeFor('ann')).toBeNull();
    expect(await nodeFor('ann-country-us')).toBe('n4');
    expect(await nodeFor('ann-node-Tokyo%2D1')).toBe('n1');
    expect(await nodeFor('ann-node-2')).toBe('n2');
    expect(await nodeFor('ann-group-My%20pool')).toBe('n2');
    expect(await nodeFor('ann-group-All-country-us')).toBe('n4');
    expect(records.at(-1)).toMatchObject({
      inboundUser: 'ann',
      chain: ['All', 'n4'],
      rule: { type: 'WISH', payload: 'country-us-group-All', target: 'All' },
    });
    expect(await socks('ann-country-us')).toEqual([0, 0]);
    await expect.poll(() => records.at(-1)).toMatchObject({ type: 'Socks5', nodeTag: 'n4', inboundUser: 'ann' });
  });

  it('is spread over the living nodes of a country', async () => {
    dead('n2');
    const used = new Set<string | null>();
    for (let count = 0; count < 40; count += 1) used.add(await nodeFor('ann-country-jp'));
    expect(used).toEqual(new Set(['n1', 'n3']));
  });

  it('never leaves elsewhere if no such node is alive', async () => {
    dead('n4');
    expect(await get('ann-country-us')).toEqual({ status: 502, text: 'no such node is alive: country-us' });
    expect(await get('ann-country-fr')).toEqual({ status: 502, text: 'there is no such node: country-fr' });
    expect(await get('ann-node-Nowhere')).toEqual({ status: 502, text: 'there is no such node: node-Nowhere' });
    expect(await get('ann-node-Osaka-country-us')).toMatchObject({ status: 502 });
    for (const group of ['DIRECT', 'n1', 'none']) {
      expect(await get(`ann-group-${group}`)).toEqual({ status: 502, text: `there is no such group: group-${group}` });
    }
    expect(await socks('ann-country-us')).toEqual([0, 4]);
    await expect.poll(() => records.at(-1)).toMatchObject({ status: 'failed', nodeTag: null, errorStage: 'route' });
  });

  it('still asks a node that is named, since a measurement may be wrong', async () => {
    dead('n4');
    expect(await nodeFor('ann-node-New%20York')).toBe('n4');
  });

  it('changes nothing about what the rules reject', async () => {
    expect(await get('ann-country-jp', 'ads.test')).toEqual({ status: 403, text: 'rejected by policy' });
  });

  it('is refused with a reason that only the right password shows', async () => {
    const problem = 'in the user name, country takes a code of two letters, such as jp';
    expect(await get('ann-country-japan')).toEqual({ status: 407, text: problem });
    expect(await socks('ann-country-japan')).toEqual([1, -1]);
    expect(await get('ann-country-japan', 'a.test', 'wrong')).toMatchObject({ text: 'proxy authentication required' });
    expect(warnings).toEqual([{ user: 'ann', problem: 'country takes a code of two letters, such as jp' }]);
  });

  it('belongs to the user with the longest name', async () => {
    expect(await get('ann-lee-country-us')).toMatchObject({ status: 407, text: 'proxy authentication required' });
    expect(await nodeFor('ann-lee-country-us', 'other')).toBe('n4');
    expect(records.at(-1)?.inboundUser).toBe('ann-lee');
    expect(await nodeFor('ann-lee', 'other')).toBeNull();
  });

  it('gives no more guesses with other wishes', async () => {
    for (let count = 0; count < 5; count += 1) await get(`ann-session-${count}`, 'a.test', `wrong ${count}`);
    expect(await get('ann-session-9', 'a.test', 'wrong 9')).toMatchObject({ status: 429 });
  });
});

describe('a session', () => {
  /** The nodes of a number of sessions. */
  const nodesOf = async (suffix = ''): Promise<(string | null)[]> => {
    const nodes: (string | null)[] = [];
    for (let index = 0; index < 12; index += 1) nodes.push(await nodeFor(`ann-country-jp-session-s${index}${suffix}`));
    return nodes;
  };

  it('keeps its node, also through reloads, and sessions are spread', async () => {
    const before = await nodesOf();
    expect(new Set(before).size).toBeGreaterThan(1);
    const more = Array.from({ length: 9 }, (_, index) => ({ ...config.outbounds[0]!, tag: `n${index + 10}` }));
    await kernel.apply({ ...config, outbounds: [...config.outbounds, ...more] });
    expect(await nodesOf()).toEqual(before);
    expect(await nodesOf('-ttl-1h')).toEqual(before);
  });

  it('takes a living node when its own is dead, and stays there when that is back', async () => {
    const before = await nodeFor('ann-country-jp-session-a');
    dead(before ?? '');
    const after = await nodeFor('ann-country-jp-session-a');
    expect(after).not.toBe(before);
    alive(before ?? '');
    expect(await nodeFor('ann-country-jp-session-a')).toBe(after);
    // Without a flow for its time it starts again: with the same nodes alive, at the first one.
    clock.offset += 10 * 60_000;
    expect(await nodeFor('ann-country-jp-session-a')).toBe(before);
  });

  it('does not keep a node that is no longer meant', async () => {
    const before = await nodeFor('ann-country-jp-session-a');
    const outbounds = config.outbounds.map((each) => (each.tag === before ? { ...each, country: 'us' } : each));
    await kernel.apply({ ...config, outbounds });
    expect(await nodeFor('ann-country-jp-session-a')).not.toBe(before);
  });

  it('takes nodes of a group, and of a select group those of its choice', async () => {
    expect(['n2', 'n3']).toContain(await nodeFor('ann-group-My%20pool-session-a'));
    expect(await nodeFor('ann-group-Chosen-session-a')).toBe('n4');
    kernel.select('Chosen', 'All');
    const used = new Set<string | null>();
    for (let index = 0; index < 30; index += 1) used.add(await nodeFor(`ann-group-Chosen-session-b${index}`));
    expect(used).toEqual(new Set(['n1', 'n2', 'n3', 'n4']));
  });

  it('without a place keeps a node of the group that the rules choose', async () => {
    expect(await nodeFor('ann-session-a')).toBeNull();
    await kernel.apply({ ...config, defaultPolicy: 'All' });
    const first = await nodeFor('ann-session-a');
    expect(first).not.toBeNull();
    for (let count = 0; count < 8; count += 1) expect(await nodeFor('ann-session-a')).toBe(first);
    expect(records.at(-1)).toMatchObject({ rule: null, chain: ['All', first] });
  });
});

describe('a listener with a group', () => {
  it('leads everything out by this group, apart from what the rules reject', async () => {
    const own = { ...listener, name: 'group-All', group: 'All', users };
    const { listeners } = await kernel.apply({ ...config, listeners: [...config.listeners, own] });
    const at = listeners.find(({ name }) => name === 'group-All')?.port ?? 0;
    const here = { status: 200, text: 'here' };
    expect(await get('ann', 'a.test', 'right', at)).toEqual(here);
    await expect.poll(() => records.at(-1)).toMatchObject({ inboundName: 'group-All', rule: { payload: 'group-All' } });
    expect(await get('ann-country-us-session-a', 'a.test', 'right', at)).toEqual(here);
    await expect.poll(() => records.at(-1)).toMatchObject({ chain: ['All', 'n4'], inboundUser: 'ann' });
    expect(await get('ann', 'ads.test', 'right', at)).toMatchObject({ status: 403 });
    expect(await get('ann-node-Moon', 'a.test', 'right', at)).toMatchObject({ status: 502 });
    expect(await get('ann-group-My%20pool', 'a.test', 'right', at)).toEqual({
      status: 407,
      text: 'in the user name, group is another one than that of this port',
    });
    expect(await get('ann')).toEqual(here);
    await expect.poll(() => records.at(-1)).toMatchObject({ inboundName: 'mixed', chain: ['DIRECT'] });

    // A group that is gone leaves no way out.
    const gone = { ...config, groups: [], listeners: [...config.listeners, own] };
    await kernel.apply(gone);
    expect(await get('ann', 'a.test', 'right', at)).toEqual({ status: 502, text: 'there is no such group: group-All' });
  });
});
