import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { KernelStatusView, SystemStatus } from '@gatehouse/contracts';
import { startTcpEcho, waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountingService } from '../src/traffic/accounting.service.js';
import { listeningPort, startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { echo, tunnelThrough } from './support/proxy-client.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const status = async (): Promise<SystemStatus> => (await gateway.call<SystemStatus>('GET', '/system/status')).body;
const kernel = async (): Promise<KernelStatusView> => (await status()).kernel;

describe('/system', () => {
  it('reports what runs', async () => {
    expect(await status()).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node_version: process.versions.node,
      started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      cpu: { cores: expect.any(Number) },
      kernel: {
        state: 'running',
        pid: expect.any(Number),
        // The second generation has this service's own address, which is known once it listens.
        generation: expect.toSatisfy((generation: number) => generation === 1 || generation === 2),
        last_error: null,
        left_out: [],
        listeners: [{ state: 'listening' }],
      },
      connections: 0,
      database: { ok: true, version: expect.stringMatching(/^\d+/) },
      queue: { ok: true, failed: 0 },
      geo: {
        auto_update: true,
        updating: false,
        databases: [
          { name: 'country', status: 'ok', updated_at: null },
          { name: 'asn', status: 'missing' },
          { name: 'geosite', status: 'missing' },
        ],
      },
      counts: { nodes: 0, subscriptions: 0, rules: 0 },
    });
    const ready = await fetch(`${gateway.app.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { checks: { database: { ok: true }, queue: { ok: true }, kernel: { ok: true } } },
    ]);
  });

  it('reloads on demand into a new generation without dropping connections', async () => {
    // Applies what the start has left to apply.
    await gateway.call('POST', '/system/reload');
    const before = await kernel();
    const { status: code, body } = await gateway.call('POST', '/system/reload');
    expect([code, body]).toMatchObject([
      200,
      {
        ok: true,
        generation: body.previous_generation + 1,
        config_hash: before.config_hash,
        changed: { nodes: 0, groups: 0, rules: 0, listeners: 0 },
        dropped_connections: 0,
        warnings: [],
      },
    ]);
    expect(body.previous_generation).toBeGreaterThanOrEqual(before.generation);
  });

  it('keeps serving while the kernel is killed, and has another at once', async () => {
    const { pid, restarts } = await kernel();
    process.kill(pid!, 'SIGKILL');
    const killed = performance.now();
    await waitFor(async () => (await kernel()).pid !== pid, { timeoutMs: 15_000 });
    await waitFor(async () => (await kernel()).state === 'running', { timeoutMs: 60_000 });
    expect(performance.now() - killed).toBeLessThan(10_000);
    expect(await kernel()).toMatchObject({ state: 'running', restarts: restarts + 1, generation: 1 });
    expect(await listeningPort(gateway.kernel)).toBeGreaterThan(0);
  });

  it('loses no row of the traffic log, and writes none twice, when the kernel is killed as flows end', async () => {
    await using target = await startTcpEcho();
    const accounting = gateway.app.app.get(AccountingService, { strict: false });
    const dataSource = gateway.app.app.get(DataSource, { strict: false });
    const counted = async (): Promise<unknown> =>
      (
        await dataSource.query(
          `SELECT (SELECT count(*)::int FROM traffic_logs WHERE target_port = $1) AS rows,
             sum(requests)::int AS requests, sum(upload)::int AS bytes FROM traffic_domain_hourly`,
          [target.port],
        )
      )[0];
    const port = await listeningPort(gateway.kernel);
    const sockets = await Promise.all(Array.from({ length: 40 }, () => tunnelThrough(port, '127.0.0.1', target.port)));
    await Promise.all(sockets.map((socket) => echo(socket, '100 bytes '.repeat(10))));
    await Promise.all(sockets.map((socket) => once(socket.end(), 'close')));
    await waitFor(async () => (await gateway.kernel.connections()).length === 0, { intervalMs: 1 });
    // This answer comes in a later turn than the end of the last flow.
    await gateway.kernel.connections();
    const { pid, restarts } = await kernel();
    process.kill(pid!, 'SIGKILL');
    const all = { rows: 40, requests: 40, bytes: 4_000 };
    await waitFor(async () => isDeepStrictEqual(await counted(), all), { timeoutMs: 30_000 });
    // Nothing is repeated by the next kernel either.
    await waitFor(async () => (await kernel()).restarts > restarts, { timeoutMs: 30_000 });
    await waitFor(() => gateway.kernel.connections().catch(() => null), { timeoutMs: 30_000 });
    expect(await accounting.flush()).toBe(true);
    expect(await counted()).toEqual(all);
    await waitFor(async () => (await kernel()).state === 'running', { timeoutMs: 30_000 });
  }, 100_000);

  it('answers 503 KERNEL_UNAVAILABLE only for what the kernel knows while it is down', async () => {
    const down = await waitFor(async () => {
      // Kills it each time that it is up again: on a busy machine the requests may come after the next start.
      const { state, pid } = await kernel();
      if (state === 'running') process.kill(pid!, 'SIGKILL');
      const answer = await gateway.call('POST', '/system/reload');
      return answer.status === 503 ? answer : null;
    });
    expect(down.body).toMatchObject({
      code: 'KERNEL_UNAVAILABLE',
      error: expect.any(String),
      request_id: expect.any(String),
    });
    expect((await gateway.call('GET', '/proxies')).status).toBe(200);
    await waitFor(async () => (await kernel()).state === 'running', { timeoutMs: 60_000 });
  });

  it('keeps the generation and answers 422 for an invalid configuration', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const before = await kernel();
    await gateway.app.app
      .get((await import('../src/preferences/preferences.service.js')).Preferences, { strict: false })
      .write({
        'kernel.listen.mixed': `127.0.0.1:${port}`,
      });
    await waitFor(async () => (await kernel()).state === 'degraded');
    const refused = await gateway.call('POST', '/system/reload');
    expect([refused.status, refused.body.code]).toEqual([422, 'UNPROCESSABLE']);
    expect(await kernel()).toMatchObject({
      state: 'degraded',
      generation: before.generation,
      config_hash: before.config_hash,
      listeners: before.listeners,
    });
    expect((await kernel()).last_error).toContain(String(port));
    taken.close();
    await once(taken, 'close');
    expect((await gateway.call('POST', '/system/reload')).status).toBe(200);
    expect(await kernel()).toMatchObject({ state: 'running', last_error: null, listeners: [{ port }] });
  });
});

it('does not start on a taken kernel port, and names the variable', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await expect(startGateway({ PROXY_KERNEL_PORT: String(port) })).rejects.toThrow(
    new RegExp(`^PROXY_KERNEL_PORT: 127\\.0\\.0\\.1:${port} .*; set PROXY_KERNEL_PORT to a free port$`),
  );
  taken.close();
  await once(taken, 'close');
});
