import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Socket, connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ByteReader, DialedSocket, relay, resetStream, reuseMemory, type RelayEnd } from './index.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Both ends of a connection; the accepted one is paused. */
async function pair(): Promise<{ near: Socket; accepted: Socket }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [accepted] = (await once(server, 'connection')) as [Socket];
  for (const socket of [near, accepted]) socket.on('error', () => undefined);
  cleanups.push(
    () => [near, accepted].forEach((socket) => socket.destroy()),
    () => server.close(),
  );
  return { near, accepted };
}

const digest = (parts: Buffer[]): string => createHash('sha256').update(Buffer.concat(parts)).digest('hex');

/** Reads everything up to the end, with pauses. */
async function readSlowly(socket: Socket): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => {
    parts.push(part);
    if (parts.length % 7 !== 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), 1);
  });
  socket.resume();
  await once(socket, 'end');
  return parts;
}

describe('reuseMemory', () => {
  it('works with this version of Node, once for each accepted socket and for no others', async () => {
    const { accepted } = await pair();
    expect([reuseMemory(accepted), reuseMemory(accepted)]).toEqual([true, false]);
    expect(reuseMemory(new DialedSocket())).toBe(false);
    expect(reuseMemory({})).toBe(false);
    const { accepted: gone } = await pair();
    gone.destroy();
    expect(reuseMemory(gone)).toBe(false);
  });

  it('delivers what was read and put back before', async () => {
    const { near, accepted } = await pair();
    near.write('head and body');
    const reader = new ByteReader(accepted);
    expect(String(await reader.read(5))).toBe('head ');
    await reader.peek(8);
    reader.restore();
    expect(reuseMemory(accepted)).toBe(true);
    near.end(', then more');
    expect(String(Buffer.concat(await readSlowly(accepted)))).toBe('and body, then more');
  });

  it('carries many megabytes unchanged both ways between readers that pause, and the ends', async () => {
    const streams = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const [left, right] = [await pair(), await pair()];
        const ended = Promise.withResolvers<RelayEnd>();
        for (const { accepted } of [left, right]) expect(reuseMemory(accepted)).toBe(true);
        relay(left.accepted, right.accepted, { upload: 0, download: 0 }, { onClose: ended.resolve });
        const [up, down] = [randomBytes(8_000_000), randomBytes(8_000_000)];
        left.near.end(up);
        right.near.end(down);
        const [gotUp, gotDown] = await Promise.all([readSlowly(right.near), readSlowly(left.near)]);
        expect([digest(gotUp), digest(gotDown)]).toEqual([digest([up]), digest([down])]);
        return ended.promise;
      }),
    );
    expect(streams.map(({ error }) => error)).toEqual([null, null, null, null]);
  });

  it('stops at a pause and continues', async () => {
    const { near, accepted } = await pair();
    reuseMemory(accepted);
    let read = 0;
    accepted.on('data', (part: Buffer) => {
      read += part.length;
      accepted.pause();
    });
    accepted.resume();
    near.write(Buffer.alloc(1_000_000));
    await expect.poll(() => read).toBeGreaterThan(0);
    const held = read;
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBe(held);
    accepted.removeAllListeners('data').on('data', (part: Buffer) => (read += part.length));
    accepted.resume();
    await expect.poll(() => read).toBe(1_000_000);
  });

  it('passes a reset on', async () => {
    const [left, right] = [await pair(), await pair()];
    for (const { accepted } of [left, right]) reuseMemory(accepted);
    const ended = Promise.withResolvers<RelayEnd>();
    relay(left.accepted, right.accepted, { upload: 0, download: 0 }, { onClose: ended.resolve });
    const reset = once(right.near.resume(), 'error').catch((error: unknown) => [error]);
    resetStream(left.near);
    expect((await reset)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect((await ended.promise).reason).toBe('client_error');
  });
});
