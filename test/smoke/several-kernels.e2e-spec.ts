import type { Socket } from 'node:net';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { echo, KernelYard } from '../support/kernel-yard.js';

const PATIENCE = { timeoutMs: 60_000 };
const BOTH = [1, 2];

/** Two kernels and two services, all connected. */
async function startBoth(yard: KernelYard): Promise<void> {
  await Promise.all(BOTH.map((number) => yard.startKernel(number)));
  // One after the other: the first one migrates.
  for (const number of BOTH) await yard.startService(number, BOTH);
  for (const number of BOTH) await yard.untilCurrent(number, 2);
}

interface Logged {
  kernel: string | null;
  upload: number;
  target_port: number;
}

/** The logged flows to a port. */
async function loggedFlows(yard: KernelYard, port: number): Promise<Logged[]> {
  const { body } = await yard.call(1, 'GET', '/traffic-logs?limit=500');
  return (body.items as Logged[]).filter((row) => row.target_port === port && row.upload > 0);
}

it('drives two kernels from two services: every write, read and figure concerns both', async () => {
  await using target = await startTcpEcho();
  await using blocked = await startTcpEcho();
  await using yard = await KernelYard.open(3);
  await startBoth(yard);

  const list = await yard.kernels(2);
  expect(list).toMatchObject({ total: 2, separate: true, unreachable: [] });
  expect(
    list.items.map(({ name, state, public_host: host, listeners }) => [name, state, host, listeners[0]?.address]),
  ).toEqual([
    ['kernel-1', 'serving', 'kernel-1.example', '127.0.0.1'],
    ['kernel-2', 'serving', 'kernel-2.example', '127.0.0.2'],
  ]);
  expect(new Set(list.items.map(({ revision }) => revision))).toEqual(new Set([list.revision]));

  // A write at one service is in both kernels when its answer arrives.
  const rule = await yard.call(1, 'POST', '/rules', { raw: `DST-PORT,${blocked.port},REJECT` });
  expect(rule.status).toBe(201);
  for (const kernel of BOTH) expect(await yard.through(kernel, blocked.port)).not.toBeInstanceOf(Object);

  const tunnels = await Promise.all(BOTH.map((kernel) => yard.through(kernel, target.port)));
  for (const tunnel of tunnels) expect(await echo(tunnel, 'open')).toBe('open');
  await expectLiveRates(yard, tunnels);
  await expectConnections(yard, target.port);

  const reload = await yard.call(2, 'POST', '/system/reload');
  expect(reload.body.kernels).toEqual(
    BOTH.map((number) => expect.objectContaining({ name: `kernel-${number}`, applied: true })),
  );
  await expectLeases(yard);
  await expectOneLimit(yard);
}, 480_000);

/** The fetches of a publication have one limit, whichever service answers. */
async function expectOneLimit(yard: KernelYard): Promise<void> {
  const { body } = await yard.call(1, 'POST', '/publications', { name: 'once', fetches_per_hour: 1 });
  const statuses = await Promise.all(BOTH.map(async (service) => (await fetch(yard.root(service) + body.path)).status));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 429]);
}

/** Records go to one service, but both see the traffic of both kernels as it flows. */
async function expectLiveRates(yard: KernelYard, tunnels: readonly (Socket | number)[]): Promise<void> {
  for (const tunnel of tunnels) {
    for (const service of BOTH) {
      await waitFor(async () => {
        expect(await echo(tunnel, 'to be seen')).toBe('to be seen');
        return (await yard.call(service, 'GET', '/connections')).body.upload_speed > 0;
      }, PATIENCE);
      // The next one must not see what is left of this one.
      await waitFor(async () => (await yard.call(service, 'GET', '/connections')).body.upload_speed === 0, PATIENCE);
    }
  }
}

/** Both services show both connections with their kernels; each can be closed from the other service. */
async function expectConnections(yard: KernelYard, port: number): Promise<void> {
  interface Open {
    id: string;
    kernel: string;
    destination_port: number;
  }
  for (const service of BOTH) {
    const { body } = await yard.call(service, 'GET', '/connections');
    const open = (body.connections as Open[]).filter((one) => one.destination_port === port);
    expect(new Set(open.map(({ kernel }) => kernel))).toEqual(new Set(['kernel-1', 'kernel-2']));
    expect(new Set(open.map(({ id }) => id)).size).toBe(2);
    const one = await yard.call(service, 'GET', `/connections?kernel=kernel-${service}`);
    expect(one.body.connections).toHaveLength(1);
    const dashboard = await yard.call(service, 'GET', '/dashboard');
    expect(dashboard.body.connections.active).toBe(2);
  }
  const { body } = await yard.call(1, 'GET', '/connections?kernel=kernel-2');
  const [other] = body.connections as Open[];
  expect((await yard.call(1, 'DELETE', `/connections/${other?.id}`)).body).toEqual({ closed: 1 });
  await waitFor(async () => (await yard.call(2, 'GET', '/connections?kernel=kernel-2')).body.total === 0, PATIENCE);
  expect((await yard.call(2, 'DELETE', '/connections')).body).toEqual({ closed: 1 });
  await waitFor(async () => (await loggedFlows(yard, port)).length === 2, PATIENCE);
  const kernels = (await loggedFlows(yard, port)).map(({ kernel }) => kernel);
  expect(new Set(kernels)).toEqual(new Set(['kernel-1', 'kernel-2']));
}

/** A service that reaches only one of the kernels knows the other by its lease. */
async function expectLeases(yard: KernelYard): Promise<void> {
  await yard.startService(3, [1]);
  const { items } = await yard.kernels(3);
  expect(items.map(({ name, reachable, state }) => [name, reachable, state])).toEqual([
    ['kernel-1', true, 'serving'],
    ['kernel-2', false, 'serving'],
  ]);
  const { id } = items[1] ?? {};
  expect(await yard.call(3, 'POST', `/kernels/${id}/drain`)).toMatchObject({
    status: 503,
    body: { code: 'KERNEL_UNAVAILABLE' },
  });
}
