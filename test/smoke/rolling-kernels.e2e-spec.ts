import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { close, echo, KernelYard } from '../support/kernel-yard.js';

const THREE = [1, 2, 3];
const CHECK_MS = 100;
const FLOW_EVERY_MS = 100;
/** Longer than the balancer takes to notice, even on a busy machine. */
const DRAIN_DELAY_MS = '4000';

/**
 * A small stand-in for a TCP load balancer: it asks each kernel's `/readyz`, sends each client to the next one that is
 * ready, and tries another one if that refuses.
 */
class TestBalancer implements AsyncDisposable {
  /** Connections that a kernel refused although it had said that it was ready. */
  refused = 0;
  private readonly yard: KernelYard;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly timer: NodeJS.Timeout;
  private ready: number[] = [];
  private turn = 0;

  private constructor(yard: KernelYard) {
    this.yard = yard;
    this.server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => this.forward(client, 3));
    this.timer = setInterval(() => void this.check(), CHECK_MS);
  }

  static async start(yard: KernelYard): Promise<TestBalancer> {
    const balancer = new TestBalancer(yard);
    balancer.server.listen(0, '127.0.0.1');
    await once(balancer.server, 'listening');
    await waitFor(() => balancer.ready.length === THREE.length, { timeoutMs: 60_000 });
    return balancer;
  }

  get place(): { host: string; port: number } {
    return { host: '127.0.0.1', port: (this.server.address() as AddressInfo).port };
  }

  isReady(kernel: number): boolean {
    return this.ready.includes(kernel);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async check(): Promise<void> {
    const states = await Promise.all(THREE.map((kernel) => this.yard.health(kernel, '/readyz')));
    this.ready = THREE.filter((_, index) => states[index] === 200);
  }

  private forward(client: Socket, attempts: number): void {
    const kernel = this.ready[this.turn++ % Math.max(1, this.ready.length)];
    if (kernel === undefined || attempts === 0) return void client.destroy();
    const upstream = connect({ port: this.yard.proxyPort, host: this.yard.address(kernel), allowHalfOpen: true });
    this.sockets.add(client).add(upstream);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => {
      if (!upstream.connecting && upstream.bytesRead + upstream.bytesWritten > 0) return client.destroy();
      this.refused++;
      this.forward(client, attempts - 1);
    });
    upstream.once('connect', () => {
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
  }
}

/** Starts a short flow again and again, and counts how they end. */
class Load {
  readonly failures: string[] = [];
  done = 0;
  private readonly flows = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;

  constructor(yard: KernelYard, balancer: TestBalancer, target: number) {
    this.timer = setInterval(() => {
      const flow = this.carry(yard, balancer, target).finally(() => this.flows.delete(flow));
      this.flows.add(flow);
    }, FLOW_EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.flows);
  }

  private async carry(yard: KernelYard, balancer: TestBalancer, target: number): Promise<void> {
    const tunnel = await yard.tunnel(target, balancer.place);
    for (const text of ['one', 'two', 'three']) {
      const answer = await echo(tunnel, text);
      if (answer !== text) return void this.failures.push(answer);
    }
    await close(tunnel);
    this.done++;
  }
}

async function untilBack(yard: KernelYard, balancer: TestBalancer, kernel: number): Promise<void> {
  await yard.untilCurrent(1, THREE.length);
  await waitFor(() => balancer.isReady(kernel), { timeoutMs: 60_000 });
}

it('replaces each of three kernels under load without a refused connection or a cut flow, and a killed one costs its own flows', async () => {
  await using target = await startTcpEcho();
  await using yard = await KernelYard.open(3);
  const env = { PROXY_KERNEL_DRAIN_DELAY_MS: DRAIN_DELAY_MS, SHUTDOWN_TIMEOUT_MS: '20000' };
  const kernels = new Map<number, ChildProcess>();
  for (const number of THREE) kernels.set(number, await yard.startKernel(number, env));
  await yard.startService(1, THREE);
  await yard.untilCurrent(1, THREE.length);
  await using balancer = await TestBalancer.start(yard);
  const load = new Load(yard, balancer, target.port);

  for (const [number, kernel] of kernels) {
    const open = await yard.through(number, target.port);
    expect(await echo(open, 'before')).toBe('before');
    const ended = yard.end(kernel, 'SIGTERM');
    await waitFor(() => !balancer.isReady(number), { timeoutMs: 30_000 });
    // A flow that was open ends in its own time.
    expect(await echo(open, 'while stopping')).toBe('while stopping');
    await close(open);
    await ended;
    kernels.set(number, await yard.startKernel(number, env));
    await untilBack(yard, balancer, number);
  }
  const before = load.done;
  await waitFor(() => load.done > before + 5, { timeoutMs: 60_000 });
  await load.stop();
  expect({ failures: load.failures, refused: balancer.refused }).toEqual({ failures: [], refused: 0 });
  expect(load.done).toBeGreaterThan(30);

  const open = await Promise.all(THREE.map((kernel) => yard.through(kernel, target.port)));
  for (const tunnel of open) expect(await echo(tunnel, 'before')).toBe('before');
  const victim = kernels.get(2);
  if (!victim) throw new Error('kernel 2 was started');
  await yard.end(victim, 'SIGKILL');
  const answers = await Promise.all(open.map((tunnel) => echo(tunnel, 'after')));
  expect(answers).toEqual(['after', 'the tunnel was cut', 'after']);
  // The balancer tries another kernel until it has noticed.
  for (let client = 0; client < 6; client++) {
    const tunnel = await yard.tunnel(target.port, balancer.place);
    expect(await echo(tunnel, 'new')).toBe('new');
    await close(tunnel);
  }
  for (const tunnel of open) await close(tunnel);
}, 600_000);
