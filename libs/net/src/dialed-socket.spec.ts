import { once } from 'node:events';
import { createServer, Socket, type AddressInfo, type LookupFunction, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DialedSocket } from './dialed-socket.js';
import { reuseMemory } from './reuse-memory.js';

interface Reader extends Socket {
  release?(): void;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(host: string, answer: Buffer): Promise<number> {
  const server = createServer((socket) => socket.end(answer)).listen(0, host);
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function resolving(...addresses: string[]): LookupFunction {
  return (_name, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}

async function readAll(socket: Reader): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => {
    parts.push(Buffer.from(part));
    socket.release?.();
  });
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(parts);
}

describe('a name with several addresses', () => {
  const answer = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));

  it.each([
    ['the second', ['127.0.0.2', '127.0.0.1']],
    ['the third', ['127.0.0.2', '::1', '127.0.0.1']],
  ])('is read completely if only %s answers, without bytes of another socket', async (_, addresses) => {
    const other = new DialedSocket();
    other.connect(await listen('127.0.0.1', Buffer.alloc(8192, 'of another connection ')), '127.0.0.1');
    await readAll(other);
    const port = await listen('127.0.0.1', answer);
    const socket = new DialedSocket();
    socket.connect({ host: 'target.example', port, autoSelectFamily: true, lookup: resolving(...addresses) });
    expect((await readAll(socket)).equals(answer)).toBe(true);
  });
});

describe('bytes that arrive while nobody reads', () => {
  const accepted = async (): Promise<[reader: Socket, peer: Socket]> => {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const peer = new Socket();
    peer.connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [reader] = (await once(server, 'connection')) as [Socket];
    reuseMemory(reader);
    return [reader, peer];
  };
  const dialled = async (): Promise<[reader: Socket, peer: Socket]> => {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const reader = new DialedSocket();
    reader.pause();
    reader.connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [[peer]] = (await Promise.all([once(server, 'connection'), once(reader, 'connect')])) as [[Socket], unknown];
    return [reader, peer];
  };

  it.each([
    ['dialled', dialled],
    ['accepted', accepted],
  ])('are kept until a socket that was %s, and paused right after its first resume, is resumed', async (_, pair) => {
    const [reader, peer] = await pair();
    reader.resume();
    reader.pause();
    peer.write('first, ');
    // Node may read ahead by this much.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const all = readAll(reader);
    peer.end(Buffer.alloc(200_000, 'then the rest '));
    reader.resume();
    const bytes = await all;
    expect(String(bytes.subarray(0, 23))).toBe('first, then the rest th');
    expect(bytes).toHaveLength(200_007);
    peer.destroy();
  });
});
