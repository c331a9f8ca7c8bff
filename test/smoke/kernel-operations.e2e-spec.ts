import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { reservePort, startTcpEcho, waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { close, echo, KernelYard } from '../support/kernel-yard.js';

const PATIENCE = { timeoutMs: 60_000 };
const BOTH = [1, 2];

/** Whether something accepts connections there. */
async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

it('drains a kernel, refuses a port that one kernel cannot open, and catches up with what a kernel missed', async () => {
  await using target = await startTcpEcho();
  await using yard = await KernelYard.open(2);
  const kernels = await Promise.all(BOTH.map((number) => yard.startKernel(number)));
  for (const number of BOTH) await yard.startService(number, BOTH);
  for (const number of BOTH) await yard.untilCurrent(number, 2);

  await expectDrainAndResume(yard, target.port);
  await expectRefusedPort(yard);

  // Kernel 2 is away while the configuration changes.
  const [, second] = kernels;
  if (!second) throw new Error('kernel 2 was started');
  await yard.end(second, 'SIGKILL');
  await waitFor(async () => (await yard.kernels(1)).unreachable.length === 1, PATIENCE);
  await using blocked = await startTcpEcho();
  const rule = await yard.call(1, 'POST', '/rules', { raw: `DST-PORT,${blocked.port},REJECT` });
  expect(rule.status).toBe(201);
  const reload = await yard.call(1, 'POST', '/system/reload');
  expect(reload.body.kernels).toEqual([
    { name: 'kernel-1', applied: true, generation: expect.any(Number) },
    { name: 'kernel-2', applied: false, generation: null },
  ]);
  expect(await yard.through(1, blocked.port)).not.toHaveProperty('remoteAddress');

  await yard.startKernel(2);
  for (const service of BOTH) await yard.untilCurrent(service, 2);
  expect(await yard.through(2, blocked.port)).not.toHaveProperty('remoteAddress');
  const again = await yard.through(2, target.port);
  expect(await echo(again, 'back')).toBe('back');
  await close(again);
}, 480_000);

async function expectDrainAndResume(yard: KernelYard, target: number): Promise<void> {
  const { items } = await yard.kernels(1);
  const id = items.find(({ name }) => name === 'kernel-1')?.id ?? '';
  const open = await yard.through(1, target);
  expect(await echo(open, 'before')).toBe('before');

  const drained = await yard.call(2, 'POST', `/kernels/${id}/drain`);
  expect(drained).toMatchObject({ status: 200, body: { id, state: 'draining', listeners: [] } });
  expect([await yard.health(1, '/readyz'), await yard.health(1, '/healthz')]).toEqual([503, 200]);
  expect(await accepts(yard.address(1), yard.proxyPort)).toBe(false);
  expect(await echo(open, 'while draining')).toBe('while draining');
  const seen = await yard.kernels(1);
  expect(seen.items.map(({ name, state }) => [name, state])).toEqual([
    ['kernel-1', 'draining'],
    ['kernel-2', 'serving'],
  ]);

  // A new configuration does not open the port.
  expect((await yard.call(1, 'POST', '/system/reload')).status).toBe(200);
  expect(await accepts(yard.address(1), yard.proxyPort)).toBe(false);

  const resumed = await yard.call(1, 'POST', `/kernels/${id}/serve`);
  expect(resumed).toMatchObject({ status: 200, body: { id, state: 'serving' } });
  expect(await yard.health(1, '/readyz')).toBe(200);
  const after = await yard.through(1, target);
  expect(await echo(after, 'after')).toBe('after');
  expect(await echo(open, 'still open')).toBe('still open');
  await Promise.all([close(open), close(after)]);
  expect(await yard.call(1, 'POST', '/kernels/unknown/drain')).toMatchObject({ status: 404 });
}

async function expectRefusedPort(yard: KernelYard): Promise<void> {
  const port = await reservePort();
  const taken = createServer().listen(port, yard.address(2));
  await once(taken, 'listening');
  const before = (await yard.call(1, 'GET', '/settings')).body;
  const refused = await yard.call(1, 'PUT', '/settings', { 'kernel.listen.http': `:${port}` });
  expect(refused).toMatchObject({
    status: 422,
    body: {
      code: 'UNPROCESSABLE',
      details: [{ field: 'kernel.listen.http', message: expect.stringContaining('kernel-2') }],
    },
  });
  expect((await yard.call(2, 'GET', '/settings')).body).toEqual(before);
  expect(await accepts(yard.address(1), port)).toBe(false);

  taken.close();
  await once(taken, 'close');
  expect((await yard.call(1, 'PUT', '/settings', { 'kernel.listen.http': `:${port}` })).status).toBe(200);
  for (const kernel of BOTH) await waitFor(() => accepts(yard.address(kernel), port), PATIENCE);
}
