import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { ByteStream } from '@gatehouse/net';
import { afterEach, describe, expect, it } from 'vitest';
import { MuxCoolStream } from './mux-cool.js';
import { clientHello, TlsObfsStream } from './obfs/tls.js';
import { obfuscateAsHttp } from './obfs/http.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** Both ends of a connection; ours is paused. */
async function pair(): Promise<{ ours: Socket; server: Socket }> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const ours = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  ours.pause();
  const [server] = (await once(listener, 'connection')) as [Socket];
  for (const socket of [ours, server]) socket.on('error', () => undefined);
  cleanups.push(() => {
    ours.destroy();
    server.destroy();
    listener.close();
  });
  return { ours, server };
}

/** All bytes until the end or an error. */
async function readAll(stream: ByteStream): Promise<{ text: string; error: string | null }> {
  const pieces: Buffer[] = [];
  let error: string | null = null;
  stream.on('error', ({ message }) => (error = message));
  stream.on('data', (bytes) => pieces.push(Buffer.from(bytes)));
  stream.resume();
  await new Promise<void>((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
  });
  return { text: Buffer.concat(pieces).toString('latin1'), error };
}

async function received(socket: Socket, size: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < size) bytes = Buffer.concat([bytes, ((await once(socket, 'data')) as [Buffer])[0]]);
  return bytes;
}

/** Sends byte by byte, since frames may be cut anywhere. */
async function sendSlowly(socket: Socket, bytes: Buffer): Promise<void> {
  socket.setNoDelay(true);
  for (const byte of bytes) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('simple-obfs as HTTP', () => {
  it('sends a request that fits its first bytes, then raw ones', async () => {
    const { ours, server } = await pair();
    const stream = obfuscateAsHttp(ours, { host: 'a.test', port: 8080, path: '/x y' });
    stream.write(Buffer.from('first'));
    stream.write(Buffer.from('second'));
    let text = '';
    while (!text.endsWith('second')) text += ((await once(server, 'data')) as [Buffer])[0].toString();
    expect(text).toMatch(/^GET \/x%20y HTTP\/1\.1\r\nHost: a\.test:8080\r\n/);
    expect(text).toMatch(/\r\nContent-Length: 5\r\n/);
    expect(text).toMatch(/\r\n\r\nfirstsecond$/);
  });

  it('fails for an answer that is not HTTP', async () => {
    const { ours, server } = await pair();
    const stream = obfuscateAsHttp(ours, { host: 'a.test', port: 80, path: '/' });
    server.write('SSH-2.0-x\r\n');
    expect(await readAll(stream)).toMatchObject({ text: '', error: /did not answer with HTTP/ });
  });
});

describe('simple-obfs as TLS', () => {
  const record = (type: number, content: string): Buffer =>
    Buffer.concat([Buffer.from([type, 3, 3, 0, content.length]), Buffer.from(content)]);

  it('sends the first bytes in a well-formed ClientHello, the others in records', async () => {
    const hello = clientHello('a.test', Buffer.from('first'));
    expect(hello.readUInt16BE(3)).toBe(hello.length - 5);
    expect(hello.readUIntBE(6, 3)).toBe(hello.length - 9);
    // Where obfs-server looks for it: after 138 fixed bytes.
    expect(hello.subarray(138, 147).toString('latin1')).toBe('\0\x23\0\x05first');
    expect(hello.includes('a.test')).toBe(true);
    const { ours, server } = await pair();
    const stream = new TlsObfsStream(ours, 'a.test');
    stream.write(Buffer.from('first'));
    stream.write(Buffer.alloc(20_000, 'x'));
    const bytes = await received(server, hello.length + 20_010);
    expect(bytes.subarray(hello.length, hello.length + 5).toString('hex')).toBe('1703034000');
    expect(bytes).toHaveLength(hello.length + 20_010);
  });

  it('reads the bytes after the server hello, cut anywhere', async () => {
    const { ours, server } = await pair();
    const stream = new TlsObfsStream(ours, 'a.test');
    const sent = [record(22, 'a hello'), record(20, '\x01'), record(22, 'one '), record(23, ''), record(23, 'two')];
    void sendSlowly(server, Buffer.concat(sent)).then(() => server.end());
    expect(await readAll(stream)).toEqual({ text: 'one two', error: null });
  });

  it.each([
    ['no TLS', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /did not answer with TLS/],
    ['an alert', Buffer.concat([record(22, 'a hello'), record(21, '\x02\x28')]), /did not answer with TLS/],
    ['half a record', Buffer.concat([record(22, 'a hello'), record(23, 'cut').subarray(0, 6)]), /inside a record/],
  ])('fails for %s', async (_name, bytes, message) => {
    const { ours, server } = await pair();
    const stream = new TlsObfsStream(ours, 'a.test');
    server.end(bytes);
    expect((await readAll(stream)).error).toMatch(message);
  });
});

describe('Mux.Cool with one session', () => {
  const frame = (session: number, status: number, data?: string): Buffer => {
    const meta = Buffer.from([0, 4, 0, session, status, data === undefined ? 0 : 1]);
    return data === undefined ? meta : Buffer.concat([meta, Buffer.from([0, data.length]), Buffer.from(data)]);
  };

  it('opens the session once and sends data in frames', async () => {
    const { ours, server } = await pair();
    const stream = new MuxCoolStream(ours);
    stream.write(Buffer.from('one'));
    stream.write(Buffer.from('two'));
    const bytes = await received(server, 14 + 2 * 11);
    expect(bytes.subarray(0, 14).toString('hex')).toBe('000c0000010001000001' + '7f000001');
    expect(bytes.subarray(14).equals(Buffer.concat([frame(0, 2, 'one'), frame(0, 2, 'two')]))).toBe(true);
  });

  it('reads its own session up to its end', async () => {
    const { ours, server } = await pair();
    const stream = new MuxCoolStream(ours);
    const sent = [frame(0, 2, 'one '), frame(0, 4), frame(7, 2, 'foreign'), frame(0, 2, ''), frame(0, 3, 'two')];
    void sendSlowly(server, Buffer.concat([...sent, frame(0, 2, 'late')]));
    expect(await readAll(stream)).toEqual({ text: 'one two', error: null });
    const closed = once(server.resume(), 'end');
    stream.end();
    await closed;
  });

  it.each([
    ['a description that is too short', Buffer.from([0, 3, 0, 0, 2, 0]), /not valid in Mux.Cool/],
    ['one that is too long', Buffer.from([2, 1, 0, 0, 2, 0]), /not valid in Mux.Cool/],
    ['half a frame', frame(0, 2, 'cut').subarray(0, 9), /inside a frame/],
  ])('fails for %s', async (_name, bytes, message) => {
    const { ours, server } = await pair();
    const stream = new MuxCoolStream(ours);
    server.end(bytes);
    expect((await readAll(stream)).error).toMatch(message);
  });
});
