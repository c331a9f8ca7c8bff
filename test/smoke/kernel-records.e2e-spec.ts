import type { ChildProcess } from 'node:child_process';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { close, echo, KernelYard } from '../support/kernel-yard.js';

const PATIENCE = { timeoutMs: 90_000 };
const BOTH = [1, 2];
const FLOWS = 60;

interface Logged {
  kernel: string;
  upload: number;
  target_port: number;
}

/** Every flow sends another number of bytes, so that the log shows which one was lost or written twice. */
async function flow(yard: KernelYard, kernel: number, target: number, bytes: number): Promise<void> {
  const tunnel = await yard.through(kernel, target);
  expect(await echo(tunnel, 'x'.repeat(bytes))).toBe('x'.repeat(bytes));
  await close(tunnel);
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

async function logged(yard: KernelYard, service: number, target: number): Promise<string[]> {
  const { body } = await yard.call(service, 'GET', '/traffic-logs?limit=500');
  const rows = (body.items as Logged[]).filter((row) => row.target_port === target && row.upload > 0);
  return rows.map(({ kernel, upload }) => `${kernel} ${upload}`).sort(byText);
}

it('writes each flow of two kernels exactly once while both services are killed in turn', async () => {
  await using target = await startTcpEcho();
  await using yard = await KernelYard.open(2);
  await Promise.all(BOTH.map((number) => yard.startKernel(number)));
  const services: ChildProcess[] = [];
  for (const number of BOTH) services.push(await yard.startService(number, BOTH));
  for (const number of BOTH) await yard.untilCurrent(number, 2);

  const carry = async (from: number): Promise<void> => {
    for (let bytes = from; bytes < from + FLOWS / 3; bytes++)
      await Promise.all(BOTH.map((kernel) => flow(yard, kernel, target.port, bytes)));
  };
  // The newest service has the events; after its end the other one gets them, and then the next newest.
  for (const [index, victim] of [2, 1].entries()) {
    const carried = carry(1 + (index * FLOWS) / 3);
    const service = services[victim - 1];
    if (service) await yard.end(service, 'SIGKILL');
    await carried;
    services[victim - 1] = await yard.startService(victim, BOTH);
  }
  await carry(1 + (2 * FLOWS) / 3);

  const expected = BOTH.flatMap((kernel) =>
    Array.from({ length: FLOWS }, (_, index) => `kernel-${kernel} ${index + 1}`),
  );
  await waitFor(async () => (await logged(yard, 1, target.port)).length >= expected.length, PATIENCE);
  await yard.untilCurrent(1, 2);
  expect(await logged(yard, 2, target.port)).toEqual(expected.sort(byText));
}, 480_000);
