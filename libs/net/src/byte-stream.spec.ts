import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { resetStream } from './byte-stream.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

async function pair(): Promise<{ client: Socket; server: Socket }> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [server] = (await once(listener, 'connection')) as [Socket];
  for (const socket of [client, server]) socket.on('error', () => undefined);
  cleanups.push(() => {
    client.destroy();
    server.destroy();
    listener.close();
  });
  return { client, server };
}

describe('resetting a stream', () => {
  it('is seen as an abort by the other end', async () => {
    const { client, server } = await pair();
    const error = new Promise<NodeJS.ErrnoException>((resolve) => client.resume().once('error', resolve));
    resetStream(server);
    expect((await error).code).toBe('ECONNRESET');
  });

  it('closes a socket whose FIN is being sent, even if it is destroyed again', async () => {
    const { server } = await pair();
    const closed = once(server, 'close');
    server.end('bye');
    resetStream(server);
    server.destroy();
    await closed;
  });

  it('closes a socket whose FIN waits behind bytes that the peer does not read', async () => {
    const { client, server } = await pair();
    client.pause();
    const closed = once(server, 'close');
    server.write(Buffer.alloc(32 * 1024 * 1024));
    server.end();
    resetStream(server);
    await closed;
  });

  it.each([0, 1, 2])('never makes a part of the bytes look complete, %s turns after the end', async (turns) => {
    const { client, server } = await pair();
    client.pause();
    const how: string[] = [];
    client.on('end', () => how.push('end')).on('error', (error: NodeJS.ErrnoException) => how.push(error.code ?? ''));
    server.write(Buffer.alloc(32 * 1024 * 1024));
    server.end();
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(server.writableLength).toBeGreaterThan(0);
    const closed = once(server, 'close');
    const over = new Promise((resolve) => client.once('end', resolve).once('error', resolve));
    resetStream(server);
    await closed;
    client.resume();
    await over;
    expect(how).toEqual(['ECONNRESET']);
  });
});
