import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent as SecureAgent, createServer as createHttpsServer, request as secureRequest } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { reservePort, waitFor } from '@gatehouse/testing';
import { createServerIdentity, TunnelAgent, TunnelVisitor, type AgentTransport } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SteadyTransfer } from './support/steady-transfer.js';
import { closed, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

const WORKERS = 3;
const CLIENTS = 10;
const RECOVERY_MS = 15_000;
const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

interface Site {
  client: AnyJson;
  tunnel: AnyJson;
  name: string;
}

let world: TunnelWorld;
let origin: number;
let sites: Site[];

beforeAll(async () => {
  world = await TunnelWorld.start({ TUNNEL_EDGE_WORKERS: String(WORKERS) });
  origin = await startOrigin();
  const echo = await world.echo();
  const folder = join(world.gateway.home, 'tunnel-gateway', 'certificates');
  mkdirSync(folder, { recursive: true });
  sites = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, index): Promise<Site> => {
      const name = `h${index}.example.org`;
      const { certificate, key } = createServerIdentity(name);
      writeFileSync(join(folder, `${name}.pem`), certificate);
      writeFileSync(join(folder, `${name}.key`), key);
      const client = await world.client({ encrypt: index % 2 === 0 });
      await host(client.id, name, { cert_path: `${name}.pem`, key_path: `${name}.key` });
      await startAgent(client.key, index % 5 === 4 ? 'websocket' : 'raw');
      return { client, name, tunnel: await world.tunnel(client.id, echo) };
    }),
  );
  await waitFor(async () => {
    const replies = await Promise.all(sites.map(({ name }) => visit(name)));
    return replies.every(({ status }) => status === 200);
  });
});
afterAll(() => world.close());

async function startOrigin(): Promise<number> {
  const server = createServer((asked, response) => {
    response.setHeader('X-Path', asked.url ?? '');
    asked.pipe(response);
  });
  server.on('upgrade', (_, socket, head) => {
    socket.on('error', quiet);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.write(head);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.onClose(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function host(clientId: number, name: string, body: object = {}): Promise<AnyJson> {
  const made = await world.admin('POST', '/hosts', {
    client_id: clientId,
    host: name,
    target_addr: `http://127.0.0.1:${origin}`,
    ...body,
  });
  expect(made.status).toBe(201);
  return made.body;
}

async function startAgent(key: string, transport: AgentTransport, port = world.edges.ports.agents): Promise<void> {
  const agent = new TunnelAgent({
    server: { host: '127.0.0.1', port },
    transport,
    websocket: { secure: port === world.edges.ports.https, host: 'localhost', port, path: '/__gw/agent' },
    key,
    now: Date.now,
    random: () => 0.1,
    logger,
  });
  world.onClose(() => agent.stop());
  agent.start();
  await waitFor(() => agent.status.state === 'online', { timeoutMs: 30_000 });
}

/** A proxy that ends TLS and opens a new TLS connection to the gateway, with the name of a host. */
async function reencrypting(): Promise<{ port: number; name: string }> {
  const { name } = sites[0] as Site;
  const { certificate, key } = createServerIdentity('proxy.example.org');
  const proxy = createTlsServer({ cert: certificate, key }, (near) => {
    const gateway = { port: world.edges.ports.https, host: '127.0.0.1', servername: name, rejectUnauthorized: false };
    const far = connectTls(gateway);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
    world.onClose(() => near.destroy());
  }).listen(0, '127.0.0.1');
  world.onClose(() => proxy.close());
  await once(proxy, 'listening');
  return { port: (proxy.address() as AddressInfo).port, name };
}

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

interface Visit {
  scheme?: 'http' | 'https';
  path?: string;
  body?: Buffer;
  agent?: Agent;
  headers?: Record<string, string>;
  port?: number;
}

function visit(
  name: string,
  { scheme = 'http', path = '/', body, agent, headers = {}, port = world.edges.ports[scheme] }: Visit = {},
): Promise<Reply> {
  const send = scheme === 'http' ? request : secureRequest;
  return new Promise((resolve, reject) => {
    const asked = send(
      {
        host: '127.0.0.1',
        port,
        path,
        method: body ? 'POST' : 'GET',
        headers: { host: name, ...headers },
        servername: name,
        rejectUnauthorized: false,
        agent: agent ?? false,
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
        });
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Sites of different workers, whatever ids they got. */
function ofWorkers(): Site[][] {
  return Array.from({ length: WORKERS }, (_, index) => sites.filter(({ client }) => client.id % WORKERS === index));
}

async function workers(): Promise<(number | null)[]> {
  return (await world.edges.status()).workers ?? [];
}

async function inlet({ tunnel }: Site): Promise<number> {
  return (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.inlet_flow;
}

describe('clients of several workers', () => {
  it('run in separate processes and are managed as one', async () => {
    const pids = await workers();
    expect(new Set([...pids, world.edges.pid]).size).toBe(WORKERS + 1);
    expect(ofWorkers().every((own) => own.length >= 3)).toBe(true);
    const ids = sites.map(({ client }) => client.id);
    expect((await world.edges.agents(ids))?.length).toBe(CLIENTS);
    expect((await world.edges.status()).agents).toBe(CLIENTS);
    expect((await world.edges.tunnels(sites.map(({ tunnel }) => tunnel.id)))?.length).toBe(CLIENTS);
  });

  it('have the targets of each host checked by one worker', async () => {
    const hosts: AnyJson[] = await Promise.all(
      sites.map(async ({ name }) => (await world.admin('GET', `/hosts?host=${name}`)).body.items[0]),
    );
    const change = (body: object): Promise<unknown> =>
      Promise.all(hosts.map(({ id }) => world.admin('PATCH', `/hosts/${id}`, body)));
    await change({ health_check: { type: 'http', interval_seconds: 1 } });
    await waitFor(async () => {
      const checked = await world.edges.checkedTargets(hosts.map(({ id }) => id));
      return checked?.length === CLIENTS && checked.every(({ state }) => state === 'up');
    });
    await change({ health_check: null });
  });

  it('carry any number of bytes through tunnels, counted to the byte', async () => {
    const before = await Promise.all(sites.map(inlet));
    const answers = await Promise.all(
      sites.map(({ tunnel }, index) => world.ask(tunnel.listen_port, 'x'.repeat(100_000 + index))),
    );
    expect(answers.map((answer) => answer?.length)).toEqual(sites.map((_, index) => 100_000 + index));
    await waitFor(async () => {
      const now = await Promise.all(sites.map(inlet));
      return now.every((bytes, index) => bytes === (before[index] ?? 0) + 100_000 + index);
    });
    const [total] = await world.rows(`
      SELECT (SELECT inlet_bytes FROM tunnel_gateway.flow_stats WHERE resource_type = 'global') AS global,
        (SELECT sum(inlet_flow) FROM tunnel_gateway.clients) AS clients`);
    expect(Number(total.global)).toBe(Number(total.clients));
  });

  it('serve their names over HTTP and HTTPS with complete bodies', async () => {
    const body = randomBytes(2_000_000);
    const replies = await Promise.all(
      sites.flatMap(({ name }) => [visit(name, { body }), visit(name, { scheme: 'https', body })]),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(replies.every((reply) => reply.body.equals(body))).toBe(true);
  });

  it('pass TLS on by its name, each in the process of its client', async () => {
    const { certificate, key } = createServerIdentity('passed.example.org');
    const site = createHttpsServer({ cert: certificate, key }, (asked, response) => asked.pipe(response));
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    world.onClose(() => {
      site.close();
      site.closeAllConnections();
    });
    const target = `tls://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const names = sites.map(({ name }) => `passed-${name}`);
    for (const [index, { client }] of sites.entries()) {
      await host(client.id, names[index] ?? '', { scheme: 'https', target_addr: target });
    }
    const body = randomBytes(500_000);
    const isPassed = (name: string): Promise<boolean> =>
      visit(name, { scheme: 'https', body }).then(
        (reply) => reply.status === 200 && reply.body.equals(body),
        () => false,
      );
    for (const name of names) await waitFor(() => isPassed(name));
  });

  it('serve HTTP/2, and answer 421 to a name of another process on the same connection', async () => {
    const [one, other] = ofWorkers().map(([site]) => site?.name ?? '');
    const session = connectHttp2(`https://127.0.0.1:${world.edges.ports.https}`, {
      servername: one ?? '',
      rejectUnauthorized: false,
    });
    const statusOf = async (authority: string): Promise<unknown> => {
      const stream = session.request({ ':authority': authority });
      const [headers] = await once(stream, 'response');
      stream.resume();
      return headers[':status'];
    };
    expect(await statusOf(one ?? '')).toBe(200);
    expect(await statusOf(other ?? '')).toBe(421);
    session.close();
  });

  it('answer 421 over HTTP/1.1 and close the connection', async () => {
    const [one, other] = ofWorkers().map(([site]) => site?.name ?? '');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const replies = [
      await visit(one ?? '', { agent }),
      await visit(one ?? '', { agent }),
      await visit(other ?? '', { agent }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 421]);
    expect(replies.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive', 'close']);
    const secure = new SecureAgent({ keepAlive: true, maxSockets: 1 });
    expect((await visit(one ?? '', { scheme: 'https', agent: secure })).status).toBe(200);
    secure.destroy();
    agent.destroy();
  });

  it('accept upgrades', async () => {
    for (const { name } of sites.slice(0, WORKERS)) {
      const socket = connect(world.edges.ports.http, '127.0.0.1');
      socket.write(`GET /ws HTTP/1.1\r\nHost: ${name}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /);
      socket.write('ping');
      const [pong] = (await once(socket, 'data')) as [Buffer];
      expect(pong.toString()).toBe('ping');
      socket.destroy();
    }
  });

  it('carry datagrams as packets and not over TCP', async () => {
    const target = createSocket('udp4');
    target.on('message', (data, { port, address }) => target.send(data, port, address));
    target.bind(0, '127.0.0.1');
    await once(target, 'listening');
    world.onClose(() => target.close());
    for (const { client } of sites.slice(0, WORKERS)) {
      const tunnel = await world.tunnel(client.id, target.address().port, {
        mode: 'udp',
        listen_port: await reservePort(),
      });
      const visitor = createSocket('udp4');
      let answers = 0;
      visitor.on('message', () => (answers += 1));
      await waitFor(() => {
        visitor.send('ping', tunnel.listen_port, '127.0.0.1');
        return answers > 0;
      });
      await waitFor(async () => {
        visitor.send('ping', tunnel.listen_port, '127.0.0.1');
        return (await world.edges.agents([client.id]))?.[0]?.packets;
      });
      visitor.close();
    }
  });

  it('support proxy modes and visitors with keys', async () => {
    for (const { client } of sites.slice(0, WORKERS)) {
      const echo = await world.echo();
      const proxy = await world.tunnel(client.id, 0, { mode: 'socks5', target_addr: `127.0.0.1:${echo}` });
      const socket = connect(proxy.listen_port, '127.0.0.1');
      socket.write(Buffer.from([5, 1, 0]));
      await once(socket, 'data');
      socket.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, echo >> 8, echo & 255]));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer[1]).toBe(0);
      socket.write('socks');
      expect(((await once(socket, 'data')) as [Buffer])[0].toString()).toBe('socks');
      socket.destroy();
      for (const mode of ['secret', 'p2p']) {
        const { body: tunnel } = await world.admin('POST', '/tunnels', {
          client_id: client.id,
          mode,
          target_addr: `127.0.0.1:${echo}`,
        });
        const server = { host: '127.0.0.1', port: world.edges.ports.agents };
        const visitor = new TunnelVisitor({ server, key: tunnel.visitor_key, logger });
        const port = await visitor.listen({ host: '127.0.0.1', port: 0 });
        await waitFor(async () => (await world.ask(port, 'private')) === 'private');
        if (mode === 'p2p') await waitFor(() => visitor.route === 'direct');
        visitor.stop();
      }
    }
  });

  it('are reached by agents through the ports for visitors', async () => {
    // Agents say a name as visitors do; it need not be one of their own process.
    const named = { cert_path: 'h0.example.org.pem', key_path: 'h0.example.org.key' };
    await host((sites[0] as Site).client.id, 'localhost', named);
    await waitFor(async () => (await visit('localhost', { scheme: 'https' })).status === 200);
    for (const port of [world.edges.ports.http, world.edges.ports.https]) {
      for (let count = 0; count < WORKERS; count++) {
        const client = await world.client();
        await startAgent(client.key, 'websocket', port);
        const tunnel = await world.tunnel(client.id, await world.echo());
        expect(await world.ask(tunnel.listen_port, 'over HTTP')).toBe('over HTTP');
      }
    }
  });

  it('report it when a proxy hides the worker that an agent or a visitor needs', async () => {
    const { port, name } = await reencrypting();
    const way = {
      transport: 'websocket',
      websocket: { secure: true, host: 'localhost', port, path: '/__gw/agent' },
    } as const;
    const server = { host: '127.0.0.1', port };
    const said: Record<string, number> = {};
    for (let count = 0; count < WORKERS; count++) {
      const client = await world.client();
      const agent = new TunnelAgent({ server, ...way, key: client.key, now: Date.now, random: () => 0.1, logger });
      world.onClose(() => agent.stop());
      agent.start();
      // A process that has not read of the client yet says `draining`.
      const outcome = await waitFor(() => {
        const { status } = agent;
        const now = 'reason' in status ? status.reason.code : status.state;
        return now === 'online' || now === 'misdirected' ? now : null;
      });
      said[outcome] = (said[outcome] ?? 0) + 1;
      const { revision } = await world.edges.status();
      const { body } = await world.admin('POST', '/tunnels', {
        client_id: client.id,
        mode: 'secret',
        target_addr: '127.0.0.1:1',
      });
      const visitor = new TunnelVisitor({ server, ...way, key: body.visitor_key, logger });
      const probed = (): Promise<string> =>
        visitor.probe().then(
          () => 'online',
          ({ code }: { code: string }) => code,
        );
      await waitFor(async () => (await world.edges.status()).revision > revision);
      expect(await probed()).toBe(outcome);
      visitor.stop();
    }
    // Clients are distributed in turn, so one of them is served by the process that has the name.
    expect({ name, said }).toEqual({ name, said: { online: 1, misdirected: WORKERS - 1 } });
  });

  it('keep their limits over all ways in', async () => {
    const site = sites[7] as Site;
    await world.admin('PATCH', `/clients/${site.client.id}`, { max_conn: 2 });
    const stay = await world.visit(site.tunnel.listen_port);
    stay.write('x');
    await once(stay, 'data');
    const socket = connect(world.edges.ports.http, '127.0.0.1');
    socket.write(`GET /ws HTTP/1.1\r\nHost: ${site.name}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    await once(socket, 'data');
    // The change may be on its way still.
    await waitFor(async () => (await visit(site.name)).status === 429);
    expect(await world.ask(site.tunnel.listen_port, 'third')).toBeNull();
    const left = closed(socket);
    socket.destroy();
    await left;
    await waitFor(async () => (await visit(site.name)).status === 200);
    stay.destroy();
    await world.admin('PATCH', `/clients/${site.client.id}`, { max_conn: 0 });
  });

  it('share one rate over all ways in', async () => {
    const { client, tunnel, name } = sites[4] as Site;
    const rate = 400 * 1024;
    const { revision } = await world.edges.status();
    await world.admin('PATCH', `/clients/${client.id}`, { rate_limit: rate / 1024 });
    await waitFor(async () => (await world.edges.status()).revision > revision);
    const visitors = await Promise.all([1, 2].map(() => world.visit(tunnel.listen_port)));
    for (const visitor of visitors) {
      visitor.on('data', quiet);
      visitor.write(Buffer.alloc(8_000_000));
    }
    const upload = visit(name, { body: Buffer.alloc(4_000_000) }).catch(quiet);
    const moved = async (): Promise<number> => {
      const [row] = await world.rows(
        'SELECT inlet_flow + export_flow AS sum FROM tunnel_gateway.clients WHERE id = $1',
        [client.id],
      );
      return Number(row.sum);
    };
    const first = await moved();
    // The bucket holds a second's worth, and a client that was quiet more.
    await waitFor(async () => (await moved()) > first + 2 * rate, { timeoutMs: RECOVERY_MS });
    const [from, at] = [await moved(), performance.now()];
    await waitFor(async () => (await moved()) >= from + 3 * rate, { timeoutMs: RECOVERY_MS });
    const perSecond = ((await moved()) - from) / ((performance.now() - at) / 1_000);
    // Batches come once a second: three of them are measured to a third.
    expect(perSecond).toBeGreaterThan(rate * 0.6);
    expect(perSecond).toBeLessThan(rate * 1.4);
    for (const visitor of visitors) visitor.destroy();
    await world.admin('PATCH', `/clients/${client.id}`, { rate_limit: 0 });
    await upload;
  }, 60_000);

  it('use up the traffic quota of their user together', async () => {
    const used = 40_000;
    const owner = await world.user('quota');
    const echo = await world.echo();
    // The next three in turn: each is served by another worker.
    const ports: number[] = [];
    for (let count = 0; count < WORKERS; count++) {
      const client = await world.client({ owner_user_id: owner.id });
      await startAgent(client.key, 'raw');
      ports.push((await world.tunnel(client.id, echo)).listen_port);
    }
    const ask = (text: string): Promise<(string | null)[]> => Promise.all(ports.map((port) => world.ask(port, text)));
    await waitFor(async () => (await ask('x')).every(Boolean));
    // What one of them carries is within it.
    await world.admin('PATCH', `/users/${owner.id}`, { traffic_quota: 2 * used });
    await ask('x'.repeat(used / 2));
    await waitFor(async () => (await ask('x')).every((answer) => answer === null), { timeoutMs: 30_000 });
    await waitFor(async () => (await world.admin('GET', `/users/${owner.id}`)).body.quota_used_up);
    await world.admin('PATCH', `/users/${owner.id}`, { traffic_quota: 0 });
    await waitFor(async () => (await ask('x')).every(Boolean), { timeoutMs: 30_000 });
  }, 90_000);

  it('reconnect after they were kicked', async () => {
    const { client, tunnel } = sites[8] as Site;
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('x');
    await once(visitor, 'data');
    const live = await world.admin('GET', `/clients/${client.id}/connections`);
    expect(live.body).toMatchObject({ total: 1 });
    const gone = closed(visitor);
    expect((await world.admin('POST', `/clients/${client.id}/kick`)).status).toBeLessThan(300);
    await gone;
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'again')) === 'again');
  });
});

describe('clients that share a name', () => {
  it('run in one process and share a connection, also if they began to share the name later', async () => {
    const [a, b] = [await world.client(), await world.client()];
    for (const client of [a, b]) await world.online(client.key);
    const tunnels = [await world.tunnel(a.id, await world.echo()), await world.tunnel(b.id, await world.echo())];
    for (const tunnel of tunnels) expect(await world.ask(tunnel.listen_port, 'apart')).toBe('apart');
    await host(a.id, 'shared.example.org', { location: '/' });
    await host(b.id, 'shared.example.org', { location: '/b' });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const both = async (): Promise<boolean> => {
      const replies = [
        await visit('shared.example.org', { agent, path: '/x' }),
        await visit('shared.example.org', { agent, path: '/b/x' }),
      ];
      return replies.every(({ status, headers }) => status === 200 && headers.connection === 'keep-alive');
    };
    await waitFor(both, { timeoutMs: RECOVERY_MS });
    agent.destroy();
    for (const tunnel of tunnels) {
      await waitFor(async () => (await world.ask(tunnel.listen_port, 'together')) === 'together', {
        timeoutMs: RECOVERY_MS,
      });
      await waitFor(async () => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status === 1);
    }
  });
});

describe('a proxy in front of several workers', () => {
  it('gets one request per connection with mixed names, and its forwarded addresses are trusted', async () => {
    const trusting = await TunnelWorld.start({ TUNNEL_EDGE_WORKERS: '2', TRUSTED_PROXIES: '127.0.0.1/32' });
    const names = await Promise.all(
      ['even.example.org', 'odd.example.org'].map(async (name) => {
        const client = await trusting.client();
        const made = await trusting.admin('POST', '/hosts', {
          client_id: client.id,
          host: name,
          target_addr: `http://127.0.0.1:${origin}`,
        });
        expect(made.status).toBe(201);
        await trusting.online(client.key);
        return { name, id: made.body.id };
      }),
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (name: string): Promise<Reply> => {
      const headers = { 'x-forwarded-for': '198.51.100.7' };
      return visit(name, { agent, headers, port: trusting.edges.ports.http });
    };
    for (const { name } of names) await waitFor(async () => (await ask(name)).status === 200);
    for (const { name } of [...names, ...names]) {
      const { status, headers } = await ask(name);
      expect([status, headers.connection]).toEqual([200, 'close']);
    }
    for (const { id } of names) {
      await waitFor(async () => {
        const sql = `SELECT ip FROM tunnel_gateway.request_ips WHERE resource_type = 'host' AND resource_id = $1`;
        return (await trusting.rows(sql, [id])).some(({ ip }) => ip === '198.51.100.7');
      });
    }
    agent.destroy();
    await trusting.close();
  }, 60_000);
});

describe('a worker that dies', () => {
  it('disconnects only its own visitors, is replaced alone, and leaves exact totals', async () => {
    const groups = ofWorkers();
    const before = new Map(await Promise.all(sites.map(async (site) => [site, await inlet(site)] as const)));
    const transfers = sites.map((site) => ({ site, transfer: new SteadyTransfer(site.tunnel.listen_port) }));
    const of = (group: Site[]): SteadyTransfer[] =>
      transfers.filter(({ site }) => group.includes(site)).map(({ transfer }) => transfer);
    await waitFor(() => transfers.every(({ transfer }) => transfer.received > 100_000));
    const [first = [], second = [], third = []] = groups;
    const [door, pids] = [world.edges.pid, await workers()];
    const killedAt = Date.now();
    process.kill(pids[1] ?? 0, 'SIGKILL');
    await waitFor(() => of(second).every(({ ended }) => ended));
    const others = of([...first, ...third]);
    const atDeath = others.map(({ received }) => received);
    // Back alone: its tunnels and its names, with agents that reconnected on their own.
    for (const { tunnel, name } of second) {
      await waitFor(async () => (await world.ask(tunnel.listen_port, '')) === '', { timeoutMs: RECOVERY_MS });
      await waitFor(async () => (await visit(name)).status === 200, { timeoutMs: RECOVERY_MS });
    }
    const now = await workers();
    expect(now[1]).not.toBe(pids[1]);
    expect([now[0], now[2], world.edges.pid]).toEqual([pids[0], pids[2], door]);
    await waitFor(() => others.every(({ received }, index) => received > (atDeath[index] ?? 0)));
    expect(others.every(({ ended }) => !ended)).toBe(true);
    for (const transfer of others) transfer.stop();
    for (const { site, transfer } of transfers) {
      const counted = async (): Promise<number> => (await inlet(site)) - (before.get(site) ?? 0);
      if (second.includes(site)) {
        // A batch a second, and the time that it takes to be written.
        expect(await counted()).toBeGreaterThanOrEqual(transfer.sentBy(killedAt - 1_500));
        expect(await counted()).toBeLessThanOrEqual(transfer.sent);
      } else await waitFor(async () => (await counted()) === transfer.sent);
    }
  }, 60_000);

  it('is replaced with all others on SIGUSR2 without dropping a visitor', async () => {
    const [{ tunnel, name } = sites[0] as Site] = sites;
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('before');
    await once(visitor, 'data');
    const before = await workers();
    await world.edges.replace();
    expect(await world.ask(tunnel.listen_port, 'at once')).toBe('at once');
    expect((await visit(name)).status).toBe(200);
    visitor.write('after');
    expect(((await once(visitor, 'data')) as [Buffer])[0].toString()).toBe('after');
    expect((await workers()).filter((pid) => before.includes(pid))).toEqual([]);
    visitor.destroy();
    for (const pid of before) await waitFor(() => !isThere(pid ?? 0), { timeoutMs: RECOVERY_MS });
  });

  it('returns together with all others when the door dies', async () => {
    const [door, before] = [world.edges.pid ?? 0, await workers()];
    process.kill(door, 'SIGKILL');
    // Its workers serve on until they notice.
    await waitFor(() => world.edges.pid !== door);
    for (const { tunnel } of sites) {
      await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === 'x', { timeoutMs: RECOVERY_MS });
    }
    for (const pid of before) await waitFor(() => !isThere(pid ?? 0), { timeoutMs: RECOVERY_MS });
  }, 60_000);
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
