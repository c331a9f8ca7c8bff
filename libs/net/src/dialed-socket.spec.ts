import { once } from 'node:events';
import { createServer, type AddressInfo, type LookupFunction, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DialedSocket } from './dialed-socket.js';

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

async function readAll(socket: DialedSocket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => {
    parts.push(Buffer.from(part));
    socket.release();
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
  ])('is read whole where only %s answers, and never what another socket read', async (_, addresses) => {
    const other = new DialedSocket();
    other.connect(await listen('127.0.0.1', Buffer.alloc(8192, 'of another connection ')), '127.0.0.1');
    await readAll(other);
    const port = await listen('127.0.0.1', answer);
    const socket = new DialedSocket();
    socket.connect({ host: 'target.example', port, autoSelectFamily: true, lookup: resolving(...addresses) });
    expect((await readAll(socket)).equals(answer)).toBe(true);
  });
});
