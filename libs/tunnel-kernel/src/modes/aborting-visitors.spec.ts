import { ListeningSockets } from '@gatehouse/net';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TunnelRig } from '../../test/tunnel-rig.js';
import { AbortedSockets } from '../aborted-sockets.js';
import { TrustedProxies } from '../access/trusted-proxies.js';
import { RateLimits } from '../limits/rate-limits.js';
import { Admission } from './admission.js';
import { TcpEntrance } from './tcp-entrance.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A visitor that has sent more than is read of it. */
async function pouring(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  cleanups.push(() => socket.destroy());
  await once(socket, 'connect');
  const part = Buffer.alloc(1024 * 1024);
  let [sent, same] = [-1, 0];
  // Until neither the system nor anybody behind it takes more.
  await waitFor(() => {
    if (socket.writableLength === 0) socket.write(part);
    const now = socket.bytesWritten - socket.writableLength;
    same = now === sent ? same + 1 : 0;
    sent = now;
    return same > 10;
  });
  return socket;
}

describe('a visitor who aborts while nobody reads', () => {
  it('frees its place before there is a channel', async () => {
    let held = 0;
    const enter = (): { release: () => void } => ((held += 1), { release: () => (held -= 1) });
    const admission = new Admission({
      gate: { enter } as never,
      limits: new RateLimits(),
      proxies: new TrustedProxies([]),
      proxyHeaderMs: 1000,
      onRefused: () => undefined,
    });
    const rig = new TunnelRig();
    const visits = { admitted: () => undefined };
    const receive = (socket: Socket): void => admission.receive(rig.tunnelConfig(1, []), socket, visits);
    const entrance = new TcpEntrance(new ListeningSockets(), { host: '127.0.0.1', port: 0 }, receive, () => undefined);
    await entrance.listen();
    cleanups.push(() => entrance.close());
    const visitor = await pouring(entrance.port);
    expect(held).toBe(1);
    visitor.resetAndDestroy();
    await waitFor(() => held === 0);
  });

  it.each([false, true])(
    'reaches a target that does not read as an abort, data channels sealed: %s',
    async (encrypt) => {
      const rig = new TunnelRig();
      cleanups.push(() => rig.close());
      await rig.listen();
      const target = await rig.target((socket) => void socket.pause());
      const { agent } = rig.agent(rig.client(encrypt).key);
      await rig.online(1);
      const visitor = await pouring(await rig.tunnel(1, [target]));
      expect([rig.server.flows, agent.flows]).toEqual([1, 1]);
      visitor.resetAndDestroy();
      await waitFor(() => rig.records.length === 1 && agent.flows === 0);
      expect(rig.records).toMatchObject([{ reason: 'client_error' }]);
    },
  );

  it('is not confused with a visitor who has sent a request, ended its direction and waits', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
    cleanups.push(() => server.close());
    await once(server, 'listening');
    const visitor = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    const [socket] = (await once(server, 'connection')) as [Socket];
    new AbortedSockets().watch(socket.on('error', () => undefined));
    visitor.end('the question');
    await once(visitor, 'finish');
    for (let second = 0; second < 10; second++) await vi.advanceTimersByTimeAsync(1000);
    const asked: string[] = [];
    socket.on('data', (part) => asked.push(String(part))).on('end', () => socket.end(`answer to ${asked.join('')}`));
    socket.resume();
    const [answer] = (await once(visitor, 'data')) as [Buffer];
    expect(String(answer)).toBe('answer to the question');
  });
});
