import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listenTcp } from './listen.js';
import { PendingConnections, type PendingConnectionLimits } from './pending-connections.js';

const quiet = (): void => undefined;
const cleanups: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Both ends of a connection; the near one is the server's. */
interface Pair {
  near: Socket;
  far: Socket;
}

async function pairs(count: number): Promise<Pair[]> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  cleanups.push(() => server.close());
  const port = await listenTcp(server, { host: '127.0.0.1', port: 0 }, quiet);
  const all: Pair[] = [];
  while (all.length < count) {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const far = connect({ host: '127.0.0.1', port }).on('error', quiet);
    const near = (await accepted)[0].on('error', quiet);
    cleanups.push(() => [near, far].forEach((socket) => socket.destroy()));
    all.push({ near, far });
  }
  return all;
}

function pending(limits: Partial<PendingConnectionLimits> = {}): PendingConnections<string> {
  const all = new PendingConnections<string>({ max: 3, timeoutMs: 60_000, ...limits });
  cleanups.push(() => all.destroy());
  return all;
}

const alive = (all: readonly Pair[]): boolean[] => all.map(({ near }) => !near.destroyed);

describe('pending connections', () => {
  it('make room for the next one: the oldest is reset', async () => {
    const all = await pairs(5);
    const waiting = pending();
    const reset = once(all[0]?.far as Socket, 'error') as Promise<[NodeJS.ErrnoException]>;
    for (const [index, { near }] of all.entries()) waiting.add(String(index), near);
    expect(alive(all)).toEqual([false, false, true, true, true]);
    expect((await reset)[0].code).toBe('ECONNRESET');
  });

  it('that have identified themselves or have closed take no room', async () => {
    const all = await pairs(4);
    const waiting = pending();
    for (const [index, { near }] of all.slice(0, 3).entries()) waiting.add(String(index), near);
    waiting.delete('0');
    waiting.delete('0');
    waiting.delete('nobody');
    waiting.add('3', all[3]?.near as Socket);
    expect(alive(all)).toEqual([true, true, true, true]);
  });

  it('that begin again become the newest, and evict no other', async () => {
    const all = await pairs(4);
    const waiting = pending();
    for (const [index, { near }] of all.slice(0, 3).entries()) waiting.add(String(index), near);
    waiting.add('0', all[0]?.near as Socket);
    expect(alive(all)).toEqual([true, true, true, true]);
    waiting.add('3', all[3]?.near as Socket);
    expect(alive(all)).toEqual([true, false, true, true]);
  });

  it('have their time from when they began, and are removed after it', async () => {
    const all = await pairs(5);
    vi.useFakeTimers();
    const late: Socket[] = [];
    const waiting = pending({ timeoutMs: 100 });
    const [first, second, third, fourth, fifth] = all.map(({ near }) => near) as [
      Socket,
      Socket,
      Socket,
      Socket,
      Socket,
    ];
    const add = (key: string, socket: Socket): void => waiting.add(key, socket, () => late.push(socket));
    add('first', first);
    add('second', second);
    vi.advanceTimersByTime(60);
    add('first', first);
    waiting.delete('second');
    add('third', third);
    vi.advanceTimersByTime(60);
    expect(late).toEqual([]);
    vi.advanceTimersByTime(40);
    expect(late).toEqual([first, third]);
    // There is room for three again, and none of the earlier ones is reset.
    for (const socket of [second, fourth, fifth]) waiting.add(String(socket.remotePort), socket);
    expect(alive(all)).toEqual([true, true, true, true, true]);
  });

  it('are destroyed when their time is over, unless the caller does something else', async () => {
    const [pair] = await pairs(1);
    vi.useFakeTimers();
    pending({ timeoutMs: 100 }).add('one', pair?.near as Socket);
    vi.advanceTimersByTime(99);
    expect(pair?.near.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(pair?.near.destroyed).toBe(true);
  });

  it('of one source evict their own oldest, and an IPv6 /64 is one source', async () => {
    const all = await pairs(6);
    const waiting = pending({ max: 5, maxPerSource: 2 });
    const from = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8::2', '2001:db8::3', null, null];
    for (const [index, { near }] of all.entries()) waiting.add(String(index), near, undefined, from[index] ?? null);
    expect(alive(all)).toEqual([false, true, true, true, true, true]);
    expect(waiting.evicted).toBe(1);
    waiting.delete('2');
    waiting.add('again', all[2]?.near as Socket, undefined, '2001:db8::9');
    expect(alive(all)).toEqual([false, true, true, true, true, true]);
  });

  it('are destroyed together', async () => {
    const all = await pairs(3);
    vi.useFakeTimers();
    const waiting = pending();
    for (const [index, { near }] of all.entries()) waiting.add(String(index), near);
    waiting.delete('1');
    waiting.destroy();
    expect(alive(all)).toEqual([false, true, false]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
