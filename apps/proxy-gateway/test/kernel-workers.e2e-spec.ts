import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { KernelListResponse } from '@gatehouse/contracts';
import { reservePort, startTcpEcho, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type Gateway } from './support/gateway.js';
import { echo, tunnelThrough } from './support/proxy-client.js';

let gateway: Gateway;
let port: number;
beforeAll(async () => {
  port = await reservePort();
  const settings = { 'kernel.workers': '2', 'kernel.listen.mixed': `127.0.0.1:${port}` };
  gateway = await startGateway({}, settings);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const kernels = async (): Promise<KernelListResponse['items']> =>
  (await gateway.call<KernelListResponse>('GET', '/kernels')).body.items;
const connections = async (): Promise<number[]> => (await kernels()).map((kernel) => kernel.connections);

/** Opens tunnels until each process has some: the system divides them by the ports of the client. */
async function openInBoth(targetPort: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while ((await connections()).includes(0)) {
    if (sockets.length > 200) throw new Error('one process gets no connections');
    sockets.push(await tunnelThrough(port, '127.0.0.1', targetPort));
  }
  return sockets;
}

describe('kernel.workers', () => {
  it('divides connections among processes that have the same configuration', async () => {
    await using target = await startTcpEcho();
    await using blocked = await startTcpEcho();
    const sockets = await openInBoth(target.port);
    const [one, other] = await kernels();
    expect([one?.id, other?.id, one?.name === other?.name]).toEqual(['own', 'own-2', false]);
    expect([one, other]).toMatchObject([
      { state: 'serving', current: true, listeners: [{ port }] },
      { state: 'serving', current: true, listeners: [{ port }] },
    ]);
    const { body: status } = await gateway.call('GET', '/system/status');
    expect(status).toMatchObject({
      connections: sockets.length,
      kernel: { listeners: [{ port, state: 'listening' }] },
    });
    // A rule is in both when it has been written.
    expect((await gateway.call('POST', '/rules', { raw: `DST-PORT,${blocked.port},REJECT` })).status).toBe(201);
    const refused = Array.from({ length: 20 }, () => tunnelThrough(port, '127.0.0.1', blocked.port).catch(String));
    expect((await Promise.all(refused)).filter((answer) => typeof answer !== 'string')).toEqual([]);
    expect(await gateway.call('DELETE', '/connections')).toMatchObject({
      status: 200,
      body: { closed: sockets.length },
    });
    await waitFor(async () => (await connections()).every((open) => open === 0));
    await waitFor(async () => (await logged(target.port)) === sockets.length);
  });

  it('goes on in the other process while one is killed and started again, and loses no record', async () => {
    await using target = await startTcpEcho();
    const sockets = await openInBoth(target.port);
    const killed = gateway.kernel.kernels[1]?.process;
    const pid = killed?.pid ?? 0;
    const cut = sockets.map((socket) => once(socket, 'close').then(() => socket));
    process.kill(pid, 'SIGKILL');
    await waitFor(() => killed?.state === 'running' && killed.pid !== pid);
    await waitFor(async () => (await kernels()).every(({ state, current }) => state === 'serving' && current));
    await Promise.race(cut);
    const left = sockets.filter((socket) => !socket.destroyed);
    expect(left.length).toBeGreaterThan(0);
    for (const socket of left) expect(await echo(socket, 'still here')).toBe('still here');
    const again = await openInBoth(target.port);
    const ended = [...left, ...again];
    await Promise.all(ended.map((socket) => once(socket.end(), 'close')));
    await waitFor(async () => (await logged(target.port)) >= ended.length);
  });

  it('is refused where only one process can run, and needs a restart', async () => {
    const change = (body: Record<string, string>) => gateway.call('PUT', '/settings', body);
    const fake = await change({ 'dns.fake_ip': 'true' });
    expect([fake.status, fake.body.details]).toEqual([
      400,
      [{ field: 'kernel.workers', message: expect.stringContaining('dns.fake_ip') }],
    ]);
    expect((await change({ 'kernel.workers': '0' })).body.details).toMatchObject([
      { message: expect.stringContaining('1 to 64') },
    ]);
    const changed = await change({ 'kernel.workers': '3' });
    expect([changed.status, changed.headers.get('x-restart-required')]).toEqual([200, 'kernel.workers']);
    expect((await change({ 'kernel.workers': '1', 'dns.fake_ip': 'true' })).status).toBe(200);
    expect((await change({ 'kernel.workers': '2' })).status).toBe(400);
  });

  it('refuses a port that another program has, and takes a free one in all processes', async () => {
    await using taken = await startTcpEcho();
    const change = (to: number) => gateway.call('PUT', '/settings', { 'kernel.listen.mixed': `127.0.0.1:${to}` });
    expect((await change(taken.port)).status).toBe(422);
    const free = await reservePort();
    expect((await change(free)).status).toBe(200);
    await waitFor(async () => (await kernels()).every(({ listeners }) => listeners[0]?.port === free));
  });
});

async function logged(targetPort: number): Promise<number> {
  const { body } = await gateway.call('GET', `/traffic-logs?limit=500`);
  return (body.items as { target_port: number }[]).filter((row) => row.target_port === targetPort).length;
}
