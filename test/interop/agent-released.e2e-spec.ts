/** An agent of 0.1.0, as its machine has it, at this gateway: what it always did, and what it cannot do. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { reservePort, reservePorts, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_FILE, AgentPrograms } from '../support/agent-program.js';
import { releasedAgent } from '../support/released-agent.js';
import { RunningTunnelGateway, type GatewayJson } from '../support/tunnel-gateway.js';
import { exchange } from '../support/visitors.js';

const LISTED = '198.51.100.7';
const OTHER = '203.0.113.9';
const COUNT = 3;

const agents = new AgentPrograms(process.execPath);
const servers: Server[] = [];
let file: string | null = null;
let gateway: RunningTunnelGateway | undefined;
let client: GatewayJson;
/** The first of the target ports. */
let target: number;
/** Connections to targets, by their distance from the first one. */
const reached: number[] = [];

beforeAll(async () => {
  file = await releasedAgent();
  if (file === null) return; // each test says so itself
  gateway = await RunningTunnelGateway.start('password', { TRUSTED_PROXIES: '127.0.0.1/32' });
  target = await reservePorts(COUNT);
  for (let distance = 0; distance < COUNT; distance += 1) await listen(target + distance, () => reached.push(distance));
  client = await gateway.call('POST', '/clients', { name: 'old' });
  await gateway.call('POST', '/hosts', {
    client_id: client.id,
    host: 'old.example',
    target_addr: `http://127.0.0.1:${await web()}`,
  });
  start(file);
  await waitFor(async () => (await call('GET', `/clients/${client.id}`)).agent?.software.endsWith('0.1.0'));
}, 120_000);
afterAll(async () => {
  agents.killAll();
  for (const server of servers) server.close();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach((context) => {
  if (file === null) context.skip('this copy of the repository has no history with 0.1.0');
});

const call = (method: string, route: string, body?: object): Promise<GatewayJson> => gateway!.call(method, route, body);

function start(program: string): void {
  const server = `127.0.0.1:${gateway!.ports.agents}`;
  agents.start(['--server', server, '--log', 'text'], { GATEHOUSE_AGENT_KEY: client.key }, program);
}

/** Answers what it gets. */
async function listen(port: number, onVisitor: () => void): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', onVisitor);
    socket.pipe(socket);
  }).listen(port, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
}

async function web(): Promise<number> {
  const server = createHttpServer((_, response) => response.end('in')).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function tunnel(listen_port: number, body: object): Promise<GatewayJson> {
  const place = { client_id: client.id, mode: 'tcp', listen_ip: '127.0.0.1', listen_port };
  const { id } = await call('POST', '/tunnels', { ...place, ...body });
  return waitFor(async () => {
    const made = await call('GET', `/tunnels/${id}`);
    return made.run_status === 1 && made;
  });
}

async function visit(address: string, path: string): Promise<number> {
  const socket = connect(gateway!.ports.http, '127.0.0.1');
  socket.setTimeout(20_000, () => socket.destroy());
  socket.write(`GET ${path} HTTP/1.1\r\nHost: old.example\r\nX-Forwarded-For: ${address}\r\nConnection: close\r\n\r\n`);
  return Number((await text(socket).catch(() => '')).slice(9, 12));
}

describe('an agent of 0.1.0', { timeout: 60_000 }, () => {
  it('carries tunnels and hosts, beside a range that it does not know', async () => {
    const range = { port_count: COUNT, target_addr: `127.0.0.1:${target}-${target + COUNT - 1}` };
    await tunnel(await reservePorts(COUNT), range);
    const { listen_port: port } = await tunnel(await reservePort(), { target_addr: `127.0.0.1:${target}` });
    await waitFor(async () => (await exchange(port, 'hello')) === 'hello');
    await waitFor(async () => (await visit(OTHER, '/')) === 200);
  });

  it('serves every port of a range that leads to one target', async () => {
    const { listen_port: first } = await tunnel(await reservePorts(COUNT), {
      port_count: COUNT,
      target_addr: `127.0.0.1:${target}`,
    });
    for (let port = first; port < first + COUNT; port += 1)
      await waitFor(async () => (await exchange(port, 'hello')) === 'hello');
  });

  it('is behind rules of every kind: the gateway decides about them', async () => {
    const list = createHttpServer((_, response) => response.end(`${LISTED}\n`)).listen(0, '127.0.0.1');
    servers.push(list);
    await once(list, 'listening');
    const url = `http://127.0.0.1:${(list.address() as AddressInfo).port}/`;
    await call('POST', '/address-lists', { name: 'listed', url, allow_private: true });
    const deny = { scope: 'client', resource_id: client.id, type: 'deny' };
    await call('POST', '/ip-rules', { ...deny, pattern_kind: 'list', pattern: 'listed' });
    await call('POST', '/ip-rules', { ...deny, pattern_kind: 'asn', pattern: 'AS64501' });
    await call('POST', '/ip-rules', { ...deny, pattern_kind: 'any', pattern: '*', paths: ['/admin'] });
    await waitFor(async () => (await visit(LISTED, '/')) === 403 && (await visit(OTHER, '/admin/x')) === 403);
    expect(await visit(OTHER, '/')).toBe(200);
  });

  it('refuses a range that leads port by port, as the check says, until it is replaced by a new one', async () => {
    const { id, listen_port: first } = await tunnel(await reservePorts(COUNT), {
      port_count: COUNT,
      target_addr: `127.0.0.1:${target}-${target + COUNT - 1}`,
    });
    const check = (): Promise<GatewayJson> => call('POST', `/tunnels/${id}/check`, { port: first + 1 });
    reached.length = 0;
    expect(await exchange(first + 1, 'hello')).toBeFalsy();
    const refused = await check();
    expect(refused.answers).toBe(false);
    expect(refused.steps).toContainEqual({
      code: 'target_unsupported',
      state: 'failed',
      message: 'The agent is older than 0.2.0 and cannot map a range of ports. Update it.',
      detail: null,
    });
    expect(reached).toEqual([]);

    start(AGENT_FILE);
    await waitFor(async () => (await check()).answers);
    expect(await exchange(first + 1, 'hello')).toBe('hello');
    expect(reached).toEqual([1]);
  });
});
