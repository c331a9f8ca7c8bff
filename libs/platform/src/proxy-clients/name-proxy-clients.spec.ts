import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import express, { type Request, type Response } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { awaitSource, nameProxyClients, namingFailure, pendingSource } from './name-proxy-clients.js';
import type { AcceptedConnection, ProxyClients } from './proxy-clients.js';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Stands in for the kernel: it knows what a test says. */
class FakeClients implements ProxyClients {
  kernelAddresses: ReadonlySet<string> | null = new Set();
  readonly asked: AcceptedConnection[] = [];
  answer: (connection: AcceptedConnection) => Promise<string | null> = () => Promise.resolve('192.0.2.7');

  clientOf(connection: AcceptedConnection): Promise<string | null> {
    this.asked.push(connection);
    return this.answer(connection);
  }
}

interface Service {
  readonly clients: FakeClients;
  readonly port: number;
  /** Bodies of the calls that were carried out. */
  readonly done: string[];
  readonly get: (path?: string, options?: { agent?: Agent; headers?: Record<string, string> }) => Promise<string>;
}

/** A service that answers with the address of its caller. `peer`: what it takes all connections to come from. */
async function serve(peer?: string): Promise<Service> {
  const clients = new FakeClients();
  const application = express();
  application.set('trust proxy', ['127.0.0.1']);
  const server: Server = createServer(application);
  if (peer !== undefined) {
    server.on('connection', (socket: Socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }));
  }
  application.use(nameProxyClients(server, clients));
  application.use('/early', async (request: Request, response: Response) => {
    await pendingSource(request);
    response.end(request.ip);
  });
  application.use(express.text(), awaitSource);
  const done: string[] = [];
  application.use((request: Request, response: Response) => {
    done.push(String(request.body));
    response.end(`${request.ip} ${namingFailure(request) === undefined ? 'known' : 'not known'}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const get: Service['get'] = async (path = '/', { agent, headers = {} } = {}) => {
    const call = httpRequest({ host: '127.0.0.1', port, path, headers, agent: agent ?? false }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    return (await answer.toArray()).join('');
  };
  return { clients, port, done, get };
}

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  endings.push(() => agent.destroy());
  return agent;
}

describe('requests that came through the proxy', () => {
  it('have the address of their client, which is looked up once for each connection by its two ends', async () => {
    const { clients, port, get } = await serve();
    const agent = keepAlive();
    for (let call = 0; call < 3; call += 1) expect(await get('/', { agent })).toBe('192.0.2.7 known');
    expect(clients.asked).toEqual([
      {
        from: { address: '127.0.0.1', port: expect.any(Number) },
        to: { address: '127.0.0.1', port },
        ageMs: expect.any(Number),
      },
    ]);
    expect(clients.asked[0]?.from.port).not.toBe(port);
  });

  it('cannot choose their address, and other connections keep theirs', async () => {
    const { clients, get } = await serve();
    const headers = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9' };
    expect(await get('/', { headers })).toBe('192.0.2.7 known');
    clients.answer = () => Promise.resolve(null);
    expect(await get()).toBe('127.0.0.1 known');
    // A proxy of the operator's on this machine is believed, as before.
    expect(await get('/', { headers })).toBe('203.0.113.9 known');
  });

  it.each([
    ['another machine is not asked about', '198.51.100.4', new Set<string>(), 0],
    ['the kernel’s machine is asked about', '198.51.100.4', new Set(['198.51.100.4']), 1],
    [
      'the kernel’s machine is asked about on a listener for both families',
      '::ffff:198.51.100.4',
      new Set(['198.51.100.4']),
      1,
    ],
    ['any machine is asked about while that of the kernel is not known', '198.51.100.4', null, 1],
    ['a service at its own address is asked about', '127.0.0.1', new Set<string>(), 1],
  ])('%s', async (_what, peer, kernelAddresses, questions) => {
    const { clients, get } = await serve(peer);
    clients.kernelAddresses = kernelAddresses;
    await get();
    expect(clients.asked).toHaveLength(questions);
  });

  it('are delayed for a guard that needs their address before the body is read', async () => {
    const { get } = await serve();
    const agent = keepAlive();
    expect(await get('/early', { agent })).toBe('192.0.2.7');
    expect(await get('/early', { agent })).toBe('192.0.2.7');
  });

  it('of monitors are not looked up', async () => {
    const { clients, get } = await serve();
    await get('/healthz');
    await get('/readyz?a=b');
    expect(clients.asked).toEqual([]);
  });
});

describe('a kernel that does not answer', () => {
  it('leaves requests the address of their connection, and is asked again for the next one', async () => {
    const { clients, get } = await serve();
    const agent = keepAlive();
    clients.answer = () => Promise.reject(new Error('gone'));
    expect(await get('/', { agent })).toBe('127.0.0.1 not known');
    clients.answer = () => Promise.resolve('192.0.2.8');
    expect(await get('/', { agent })).toBe('192.0.2.8 known');
  });

  it('delays a limited number of connections', async () => {
    const { clients, get } = await serve();
    const { promise, resolve } = Promise.withResolvers<string | null>();
    clients.answer = () => promise;
    const answered: string[] = [];
    const all = Array.from({ length: 270 }, async () => void answered.push(await get()));
    // Those above the bound are answered while the others wait.
    const above = Array<string>(14).fill('127.0.0.1 not known');
    await expect.poll(() => answered, { timeout: 10_000 }).toEqual(above);
    expect(clients.asked).toHaveLength(256);
    resolve('192.0.2.7');
    await Promise.all(all);
    expect(answered.slice(14)).toEqual(Array<string>(256).fill('192.0.2.7 known'));
  });

  it('does not delay calls one after another', async () => {
    const { clients, get } = await serve();
    clients.answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      throw new Error('slow');
    };
    await get();
    for (let call = 0; call < 20; call += 1) await get();
    // One a second at most, however long these calls took.
    expect(clients.asked.length).toBeLessThan(20);
  });
});

describe('a client that leaves while the kernel is asked', () => {
  it.each(['end', 'destroySoon'] as const)('does not abort its call: %s', async (leave) => {
    const { clients, port, done, get } = await serve();
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const asked = Promise.withResolvers<void>();
    clients.answer = () => {
      asked.resolve();
      return promise;
    };
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello');
    await asked.promise;
    socket[leave]();
    await once(socket, leave === 'end' ? 'finish' : 'close');
    // By then the service has had time to see that the client has left.
    for (let call = 0; call < 5; call += 1) await get('/healthz');
    done.length = 0;
    resolve('192.0.2.7');
    await expect.poll(() => done).toEqual(['hello']);
  });
});
