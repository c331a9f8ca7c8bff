import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { ListeningSockets } from '@gatehouse/net';
import { afterEach, describe, expect, it } from 'vitest';
import type { PortName } from '../../common/edge-ipc.js';
import { SharedListener, type SharedListenerOptions } from './shared-listener.js';

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

interface Handed {
  worker: number;
  socket: Socket;
  head: string;
}

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function rig(
  options: Partial<SharedListenerOptions> = {},
): Promise<{ handed: Handed[]; visit: () => Promise<Socket>; close: () => void }> {
  const handed: Handed[] = [];
  const listener = new SharedListener({
    port: 'http' satisfies PortName,
    sockets: new ListeningSockets(),
    logger,
    any: () => 7,
    choose: (bytes) => (bytes.includes('!') ? 'refuse' : bytes.includes('\n') ? 1 : 'more'),
    hand: (worker, socket, head) => handed.push({ worker, socket, head: head.toString('latin1') }),
    ...options,
  });
  const port = await listener.listen({ host: '127.0.0.1', port: 0 });
  cleanups.push(() => {
    listener.close();
    for (const { socket } of handed) socket.destroy();
  });
  const visit = async (): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', quiet);
    cleanups.push(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  return { handed, visit, close: () => listener.close() };
}

/** However it ends. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve()));
}

describe('a shared port', () => {
  it('reads only until it knows the worker of a connection, and not a byte more', async () => {
    const { handed, visit } = await rig();
    const visitor = await visit();
    visitor.write('one ');
    await waitFor(() => visitor.bytesWritten === 4);
    visitor.write('two\nthree');
    await waitFor(() => handed.length === 1);
    expect(handed[0]).toMatchObject({ worker: 1, head: 'one two\nthree' });
    const { socket } = handed[0] as Handed;
    const before = socket.bytesRead;
    // More than all buffers of a process that would go on reading.
    visitor.write(Buffer.alloc(200_000));
    (await visit()).write('later\n');
    await waitFor(() => handed.length === 2);
    expect(socket.bytesRead).toBe(before);
  });

  it('closes connections without a worker, and those that end before they can be routed', async () => {
    const { handed, visit } = await rig();
    const [wrong, left] = [await visit(), await visit()];
    const over = [wrong, left].map(closed);
    wrong.end('!');
    left.end('abc');
    await Promise.all(over);
    expect(handed).toEqual([]);
  });

  it('closes connections that stay unknown for too long', async () => {
    const slow = await rig({ peekMs: 50 });
    const answered = await slow.visit();
    answered.write('GET / HTTP/1.1');
    const [answer] = (await once(answered, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 /);
    const silent = await (await rig({ peekMs: 50, port: 'https' })).visit();
    await closed(silent);
  });

  it('accepts new connections however many others are silent', async () => {
    const { handed, visit } = await rig({ maxUnidentified: 3 });
    const silent = [await visit(), await visit(), await visit()];
    const first = closed(silent[0] as Socket);
    (await visit()).write('here I am\n');
    await waitFor(() => handed.length === 1);
    await first;
    silent[2]?.write('me too\n');
    await waitFor(() => handed.length === 2);
  });

  it('reads at most what may precede the name in a request', async () => {
    const endless = 'x'.repeat(40_000);
    const { handed, visit } = await rig();
    (await visit()).write(endless);
    await waitFor(() => handed.length === 1);
    expect(handed[0]?.worker).toBe(7);
    const refusing = await rig({ port: 'agents' });
    const visitor = await refusing.visit();
    visitor.write(endless);
    await closed(visitor);
    expect(refusing.handed).toEqual([]);
  });

  it('checks again for only a limited number of small pieces', async () => {
    let looks = 0;
    const { handed, visit } = await rig({ choose: () => ((looks += 1), 'more') });
    const visitor = await visit();
    visitor.setNoDelay(true);
    while (handed.length === 0) {
      visitor.write('x');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(looks).toBeLessThanOrEqual(256);
    expect(handed[0]?.worker).toBe(7);
  });

  it('accepts no connection after it was closed, and closes those that wait', async () => {
    const { visit, close } = await rig();
    const visitor = await visit();
    visitor.write('abc');
    const over = closed(visitor);
    close();
    await over;
    await expect(visit()).rejects.toThrow('ECONNREFUSED');
  });
});
