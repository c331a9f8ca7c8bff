import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { DialedSocket } from '@gatehouse/net';
import { expect, it } from 'vitest';
import { aeadMethod, masterKey } from './cipher.js';
import { ShadowsocksStream, aeadSession } from './stream.js';

it('a stream that has closed takes nothing more, and has erased its key streams', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = new DialedSocket();
  socket.connectTo('127.0.0.1', (server.address() as AddressInfo).port);
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(socket, 'connect')])) as [[Socket], unknown];
  const method = aeadMethod('aes-128-gcm');
  const session = aeadSession({ method, master: masterKey('secret', method.keyLength) }, Buffer.from('head'));
  const stream = new ShadowsocksStream(socket, session);
  for (let count = 0; count < 4; count += 1) expect(stream.write(Buffer.from('short'))).toBe(true);
  const closed = new Promise((done) => stream.on('close', () => done(null)));
  stream.destroy();
  await closed;
  expect(stream.write(Buffer.from('late'))).toBe(false);
  expect(() => session.sealer.sealOne(Buffer.from('late'))).toThrow(RangeError);
  peer.destroy();
  server.close();
});

it('sends what was written although its memory is used for something else at once', async () => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = new DialedSocket();
  socket.connectTo('127.0.0.1', (server.address() as AddressInfo).port);
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(socket, 'connect')])) as [[Socket], unknown];
  const method = aeadMethod('aes-128-gcm');
  const keys = { method, master: masterKey('secret', method.keyLength) };
  const stream = new ShadowsocksStream(socket, aeadSession(keys, Buffer.from('head')));
  const sent = [7, 100, 2_000, 40_000, 3, ...Array.from({ length: 64 }, () => 256 * 1024)].map((size) =>
    randomBytes(size),
  );
  const memory = Buffer.alloc(256 * 1024);
  for (const chunk of sent) {
    chunk.copy(memory);
    stream.write(memory.subarray(0, chunk.length));
    memory.fill(0);
  }
  expect(stream.copiesAtOnce && stream.writableLength > 0).toBe(true);
  stream.end();
  const { opener } = aeadSession(keys, Buffer.alloc(0));
  const received: Buffer[] = [];
  peer.on('data', (bytes: Buffer) => opener.push(bytes, (plain) => received.push(plain)));
  peer.resume();
  await once(peer, 'end');
  expect(Buffer.concat(received).equals(Buffer.concat([Buffer.from('head'), ...sent]))).toBe(true);
  stream.destroy();
  server.close();
});
