import { EventEmitter, once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { createServer, type Server, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  connectHttp2,
  connectTcp,
  createHttp2Server,
  createHttpServer,
  createTcpServer,
  createUdpSocket,
  DialedSocket,
  failFlow,
  FlowFailures,
  guardFlow,
  guardPromise,
  onFlowFailure,
  requestHttp,
  setFlowInterval,
  setFlowTimeout,
  StreamEmitter,
  type FlowFailure,
} from './index.js';

let seen: FlowFailure[];
let forget: () => void;

beforeEach(() => {
  seen = [];
  forget = onFlowFailure((failure) => seen.push(failure));
});
afterEach(() => forget());

function broken(): never {
  throw new RangeError('a defect');
}

async function portOf(server: Pick<Server, 'listen' | 'address' | 'close'> & EventEmitter): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function startEcho(): Promise<number> {
  return portOf(createServer((socket) => socket.on('error', () => undefined).pipe(socket)));
}

async function dial<T extends Socket>(socket: T, port: number): Promise<T> {
  socket.on('error', () => undefined).connect(port, '127.0.0.1');
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Unlike `once`, does not reject for an earlier `error`. */
function closed(flow: EventEmitter): Promise<void> {
  return new Promise((resolve) => flow.on('error', () => undefined).once('close', resolve));
}

async function echoes(socket: Socket): Promise<void> {
  socket.write('beside');
  expect(String((await once(socket, 'data'))[0])).toBe('beside');
}

describe('an exception in an event', () => {
  it('ends the dialled socket that it came from and no other', async () => {
    const port = await startEcho();
    const [bad, good] = [await dial(new DialedSocket(), port), await dial(new DialedSocket(), port)];
    bad.on('data', broken);
    bad.write('x');
    const [error] = (await once(bad, 'error')) as [Error];
    expect(error.message).toBe('a defect');
    await expect.poll(() => bad.closed).toBe(true);
    await echoes(good);
    expect(seen.map(({ where }) => where)).toEqual(['DialedSocket data']);
  });

  it('ends an accepted socket, and the server keeps running', async () => {
    const port = await portOf(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (bytes) => (String(bytes) === 'bad' ? broken() : socket.write(bytes)));
      }),
    );
    const [good, bad] = [connectTcp(port, '127.0.0.1'), connectTcp(port, '127.0.0.1')];
    onTestFinished(() => void good.destroy());
    bad.write('bad');
    await closed(bad);
    await echoes(good);
    expect(seen).toHaveLength(1);
  });

  it('ends the connection that could not be accepted', async () => {
    const port = await portOf(createTcpServer(broken));
    await closed(connectTcp(port, '127.0.0.1'));
    expect(seen.map(({ where }) => where)).toEqual(['Server connection']);
  });

  it('ends one of our streams, but not the stream below it', () => {
    const carrier = Object.assign(new StreamEmitter(), { destroyed: false, destroy: () => (carrier.destroyed = true) });
    const carried = Object.assign(new StreamEmitter(), { destroyed: false, destroy: () => (carried.destroyed = true) });
    carrier.on('data', (bytes) => carried.emit('data', bytes));
    carried.on('data', broken);
    carrier.emit('data', Buffer.alloc(1));
    expect([carried.destroyed, carrier.destroyed, seen.length]).toEqual([true, false, 1]);
  });

  it('does not reach an error listener that throws a second time', () => {
    const stream = Object.assign(new StreamEmitter(), {
      errors: 0,
      destroy: (error?: Error) => error && stream.emit('error', error),
    });
    stream.on('error', () => {
      stream.errors += 1;
      broken();
    });
    stream.on('data', broken).emit('data', Buffer.alloc(1));
    expect([stream.errors, seen.length]).toEqual([1, 2]);
  });

  it('ends a flow that has no error listener', () => {
    const flow = guardFlow(Object.assign(new EventEmitter(), { ended: false, destroy: () => (flow.ended = true) }));
    flow.emit('error', new Error('unheard'));
    expect([flow.ended, seen[0]?.error.message]).toEqual([true, 'unheard']);
  });
});

describe('an exception in HTTP', () => {
  it('ends the request of a server, in its listener and in an event of its body', async () => {
    const server = createHttpServer((incoming, response) => {
      if (incoming.url === '/listener') broken();
      if (incoming.url === '/body') incoming.on('data', broken);
      else response.end('fine');
    });
    const port = await portOf(server);
    const ask = async (path: string): Promise<string> => {
      const sent = request({ port, path, method: 'POST', agent: false });
      const answer = once(sent.end('body'), 'response') as Promise<[IncomingMessage]>;
      return answer.then(
        async ([message]) => String(await once(message, 'data')),
        () => 'ended',
      );
    };
    expect([await ask('/listener'), await ask('/body'), await ask('/')]).toEqual(['ended', 'ended', 'fine']);
    expect(seen).toHaveLength(2);
  });

  it('ends the request of a client, which gets the error', async () => {
    const port = await portOf(createHttpServer((_request, response) => response.end('fine')));
    const sent = requestHttp({ port, agent: false });
    sent.on('response', broken).end();
    await closed(sent);
    expect([sent.destroyed, seen.length]).toEqual([true, 1]);
  });

  it('ends an HTTP/2 stream on either side, and its session keeps running', async () => {
    const server = createHttp2Server();
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on('error', () => undefined);
      if (headers[':path'] === '/server') broken();
      stream.respond();
      stream.end('fine');
    });
    const port = await portOf(server);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    await closed(session.request({ ':path': '/server' }).resume());
    await closed(session.request({ ':path': '/client' }).on('response', broken).resume());
    const last = session.request({ ':path': '/' });
    expect(String((await once(last, 'data'))[0])).toBe('fine');
    expect(seen).toHaveLength(2);
  });
});

describe('an exception elsewhere', () => {
  it('drops the datagram, and the next one is received', async () => {
    const socket = createUdpSocket('udp4');
    onTestFinished(() => void socket.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const received: string[] = [];
    socket.on('message', (bytes) => (String(bytes) === 'bad' ? broken() : received.push(String(bytes))));
    const { port } = socket.address();
    socket.send('bad', port, '127.0.0.1');
    socket.send('good', port, '127.0.0.1');
    await expect.poll(() => received).toEqual(['good']);
    expect(seen.map(({ where }) => where)).toEqual(['Socket message']);
  });

  it('ends the flow of a timer and of work that is not awaited', async () => {
    const ended: string[] = [];
    const flow = (name: string): { destroy(): void } => ({ destroy: () => void ended.push(name) });
    setFlowTimeout(flow('timeout'), broken, 1);
    setFlowInterval(flow('interval'), broken, 1);
    setFlowTimeout(flow('async'), () => Promise.reject(new Error('late')), 1);
    guardPromise(flow('promise'), Promise.reject(new Error('rejected')));
    await expect.poll(() => [...ended].sort()).toEqual(['async', 'interval', 'promise', 'timeout']);
    expect(seen).toHaveLength(4);
  });

  it('is reported even if ending the flow fails', () => {
    failFlow({ destroy: broken }, 'test', 'thrown');
    expect(seen.map(({ error }) => error.message)).toEqual(['thrown', 'a defect']);
  });
});

it('counts all failures and logs twenty a minute', () => {
  let now = 0;
  const lines: Record<string, unknown>[] = [];
  const failures = new FlowFailures(
    (_message, fields) => lines.push(fields),
    () => now,
  );
  for (let count = 0; count < 25; count += 1) failFlow(null, `callback ${count}`, new Error('x'));
  expect([failures.total, lines.length]).toEqual([25, 20]);
  now = 60_000;
  failFlow(null, 'later', new Error('x'));
  expect(lines.at(-1)).toMatchObject({ where: 'later', unlogged: 5 });
  failures.stop();
  failFlow(null, 'after', new Error('x'));
  expect(failures.total).toBe(26);
});
