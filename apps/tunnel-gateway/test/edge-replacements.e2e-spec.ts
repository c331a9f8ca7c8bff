import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer as createHttpServer, get, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { reservePort, reservePorts, waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { EdgeLauncher } from '../src/edge-host/edge-launcher.js';
import { SteadyTransfer } from './support/steady-transfer.js';
import { TunnelWorld, type AnyJson, type RunningAgent } from './support/tunnel-world.js';

const SUPERVISOR = new URL('../bundle/edge-supervisor/supervisor-main.js', import.meta.url);
/** More of them: `EDGE_REPLACEMENTS=1000 npm test -- edge-replacements`. */
const REPLACEMENTS = Number(process.env['EDGE_REPLACEMENTS'] ?? 5);
/** Visitors at a time, of tunnels and of hosts each; every one comes on a connection of its own. */
const VISITORS = 4;
/** Of each tunnel. */
const PORTS = 3;
const PATIENT = { timeoutMs: 60_000 };

let world: TunnelWorld;
afterEach(() => world.close());

interface Load {
  served: number;
  slowestMs: number;
  failures: string[];
  stop(): Promise<void>;
}

/** Visitors who come one after the other until they are stopped. */
function load(visits: readonly (() => Promise<void>)[]): Load {
  let going = true;
  const result: Load = {
    served: 0,
    slowestMs: 0,
    failures: [],
    stop: async () => {
      going = false;
      await all;
    },
  };
  const one = async (visit: () => Promise<void>): Promise<void> => {
    while (going) {
      const began = performance.now();
      try {
        await visit();
        result.served += 1;
      } catch (error) {
        result.failures.push(String(error));
      }
      result.slowestMs = Math.max(result.slowestMs, performance.now() - began);
    }
  };
  const all = Promise.all(visits.flatMap((visit) => Array.from({ length: VISITORS }, () => one(visit))));
  return result;
}

/** Connects, sends something, and reads the echo to its end. */
async function visitTunnel(port: number): Promise<void> {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  const text = 'x'.repeat(20_000);
  socket.end(text);
  let received = 0;
  for await (const part of socket) received += (part as Buffer).length;
  if (received !== text.length) throw new Error(`tunnel: ${received} of ${text.length} bytes`);
}

async function visitHost(port: number, host: string): Promise<void> {
  const request = get({ port, host: '127.0.0.1', headers: { host, connection: 'close' }, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let received = 0;
  for await (const part of response) received += (part as Buffer).length;
  if (response.statusCode !== 200 || received !== 20_000)
    throw new Error(`host: ${response.statusCode}, ${received} bytes`);
}

interface Site {
  name: string;
  tunnel: AnyJson;
  running: RunningAgent;
}

async function site(name: string, echo: number, web: number): Promise<Site> {
  const client = await world.client({ name });
  const running = await world.online(client.key);
  const tunnel = await world.tunnel(client.id, echo, { listen_port: await reservePorts(PORTS), port_count: PORTS });
  const host = { client_id: client.id, host: name, target_addr: `127.0.0.1:${web}` };
  expect((await world.admin('POST', '/hosts', host)).status).toBe(201);
  await waitFor(() => visitHost(world.edges.ports.http, name).then(() => true), PATIENT);
  return { name, tunnel, running };
}

async function webTarget(): Promise<number> {
  const server = createHttpServer((_, response) => response.end('y'.repeat(20_000))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.onClose(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Datagrams may be lost; one of them comes back. */
async function udpAnswers(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const answered = once(socket, 'message').then(() => true);
  const timer = setInterval(() => socket.send('hello', port, '127.0.0.1'), 50);
  try {
    return await Promise.race([answered, new Promise<false>((resolve) => setTimeout(resolve, 10_000, false))]);
  } finally {
    clearInterval(timer);
    socket.close();
  }
}

describe.each(['1', '2'])('an edge of %s processes that is replaced under load', (workers) => {
  it(
    `neither refuses nor cuts a visitor in ${REPLACEMENTS} replacements`,
    async () => {
      if (!existsSync(fileURLToPath(SUPERVISOR)))
        throw new Error('apps/tunnel-gateway/dist is missing: run npm run build');
      world = await TunnelWorld.start({ TUNNEL_EDGE_WORKERS: workers }, undefined, new EdgeLauncher(SUPERVISOR));
      const [echo, web] = [await world.echo(), await webTarget()];
      const sites = [await site('a.test', echo, web), await site('b.test', echo, web)];
      const target = createSocket('udp4');
      target.on('message', (message, from) => target.send(message, from.port, from.address));
      target.bind(0, '127.0.0.1');
      await once(target, 'listening');
      world.onClose(() => target.close());
      const clientId = sites[0]?.tunnel.client_id;
      const udp = await world.tunnel(clientId, target.address().port, {
        mode: 'udp',
        listen_port: await reservePort(),
      });
      expect(await udpAnswers(udp.listen_port)).toBe(true);

      const { http } = world.edges.ports;
      const visits = sites.flatMap(({ name, tunnel }) => [
        () => visitTunnel(tunnel.listen_port),
        () => visitTunnel(tunnel.listen_port + PORTS - 1),
        () => visitHost(http, name),
      ]);
      const visitors = load(visits);
      const met = sites.map(({ running }) => running.history.length);
      for (let count = 0; count < REPLACEMENTS; count += 1) {
        const transfers = sites.map(({ tunnel }) => new SteadyTransfer(tunnel.listen_port));
        await waitFor(() => transfers.every(({ received }) => received > 0), PATIENT);
        const { pid } = world.edges;
        await world.edges.replace();
        expect(world.edges.pid).not.toBe(pid);
        const moved = transfers.map(({ received }) => received);
        await waitFor(() => transfers.every(({ received }, index) => received > (moved[index] ?? 0) + 4_000), PATIENT);
        for (const transfer of transfers) {
          expect(transfer.ended).toBe(false);
          transfer.stop();
        }
        expect(visitors.failures).toEqual([]);
        // A long run may be ended before it is done.
        if ((count + 1) % 100 === 0) console.log(`${workers}: ${count + 1} replacements, ${visitors.served} visitors`);
      }
      expect(await udpAnswers(udp.listen_port)).toBe(true);
      await visitors.stop();
      const { served, slowestMs } = visitors;
      console.log(`${workers}: ${REPLACEMENTS} replacements, ${served} visitors, slowest ${Math.round(slowestMs)} ms`);
      expect(visitors.failures).toEqual([]);
      expect(served).toBeGreaterThan(0);
      // Agents went over at once: none had to wait for another attempt.
      sites.forEach(({ running }, index) => {
        expect(running.history.slice(met[index]).filter(({ state }) => state === 'waiting')).toEqual([]);
      });
    },
    60_000 + REPLACEMENTS * 10_000,
  );
});
