import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { reservePort, startTcpEcho, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Scrape } from '../support/scrape.js';
import { readExactly, socksConnect } from '../support/socks-client.js';
import { documentedMetrics, isOurs, namesInDeployment } from './metric-names.js';
import { RunningPlatform } from './running-platform.js';
import { unlockByApplication } from './unlock-by-application.js';

let platform: RunningPlatform;
const running = new AsyncDisposableStack();
beforeAll(async () => {
  platform = running.use(await RunningPlatform.start());
  // Four programs with their data planes.
}, 300_000);
afterAll(() => running.disposeAsync());

/** Sends bytes through a connection that echoes them, and ends it. */
async function exchange(socket: Socket, size: number): Promise<void> {
  socket.write(Buffer.alloc(size));
  await readExactly(socket, size);
  socket.destroy();
}

async function statusOf(url: string, body: object): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.body?.cancel();
  return answer.status;
}

describe('proxy-gateway', () => {
  it('counts connections, bytes and failures of its kernel, and says how it is', async () => {
    await using echo = await startTcpEcho();
    const port = await platform.proxy.proxyPort();
    await exchange(await socksConnect(port, echo.port), 1_000);
    await expect(socksConnect(port, await reservePort())).rejects.toThrow(/answered/);
    const scrape = await waitFor(async () => {
      const found = await Scrape.of(platform.proxy.url);
      return found.value('gatehouse_proxy_connections') === 0 ? found : undefined;
    });
    expect(scrape.value('gatehouse_kernel_up')).toBe(1);
    expect(scrape.value('gatehouse_proxy_connections_total')).toBe(2);
    expect(scrape.value('gatehouse_proxy_bytes_total', { direction: 'upload' })).toBe(1_000);
    expect(scrape.value('gatehouse_proxy_bytes_total', { direction: 'download' })).toBe(1_000);
    expect(scrape.value('gatehouse_proxy_connection_failures_total', { reason: 'connection_refused' })).toBe(1);
    expect(scrape.value('gatehouse_data_plane_resident_memory_bytes', { process: 'kernel' })).toBeGreaterThan(1e6);
    expect(scrape.value('gatehouse_data_plane_busy_ratio', { process: 'kernel' })).toBeLessThanOrEqual(1);
  });

  it('counts failed logins, and the errors that it answers', async () => {
    expect(await statusOf(`${platform.proxy.url}/api/v1/auth/login`, { password: 'wrong' })).toBe(401);
    const scrape = await Scrape.of(platform.proxy.url);
    expect(scrape.value('gatehouse_logins_total', { result: 'failed' })).toBe(1);
    expect(scrape.value('gatehouse_logins_total', { result: 'succeeded' })).toBe(1);
    expect(scrape.value('gatehouse_errors_total', { code: 'LOGIN_FAILED' })).toBe(1);
  });

  it('counts refreshes and jobs where they run, and shows queues, nodes and database connections', async () => {
    const link = `ss://${Buffer.from('aes-128-gcm:secret').toString('base64url')}@192.0.2.1:8388#one`;
    const provider = createServer((_request: IncomingMessage, response) => response.end(link)).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`;
    const { id } = await platform.proxy.call<{ id: number }>('POST', '/subscriptions', {
      name: 'one',
      url,
      allow_private: true,
    });
    await platform.proxy.call('POST', `/subscriptions/${id}/refresh`);
    // The service has a worker inside, beside the one on its own.
    const sum = async (name: string, labels: Record<string, string>): Promise<number> => {
      const both = [await Scrape.of(platform.proxy.url), await platform.scrapeWorker()];
      return both.reduce((total, scrape) => total + (scrape.value(name, labels) ?? 0), 0);
    };
    await waitFor(async () => (await sum('gatehouse_subscription_refreshes_total', { result: 'updated' })) >= 1);
    expect(
      await sum('gatehouse_jobs_finished_total', { queue: 'subscription-refresh', result: 'completed' }),
    ).toBeGreaterThanOrEqual(1);
    provider.close();
    const scrape = await Scrape.of(platform.proxy.url);
    expect(scrape.value('gatehouse_nodes')).toBe(1);
    expect(scrape.value('gatehouse_subscriptions', { state: 'ok' })).toBe(1);
    expect(scrape.value('gatehouse_subscription_oldest_success_seconds')).toBeLessThan(3_600);
    expect(scrape.value('gatehouse_queue_jobs', { queue: 'subscription-refresh', state: 'waiting' })).toBe(0);
    expect(scrape.value('gatehouse_queue_oldest_job_seconds', { queue: 'subscription-refresh' })).toBe(0);
    expect(scrape.value('gatehouse_database_connections_max')).toBe(10);
    expect((await platform.scrapeWorker()).types.has('gatehouse_queue_jobs')).toBe(false);
  });
});

describe('tunnel-gateway', () => {
  it('counts agents, visitors, bytes and refusals of its edge, and says how it is', async () => {
    await using echo = await startTcpEcho();
    const { tunnel } = platform;
    const clientId = await tunnel.clientWithAgent();
    const { listen_port: port } = await tunnel.call('POST', '/tunnels', {
      client_id: clientId,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${echo.port}`,
    });
    const visit = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      // One that is refused may be reset before it learns that it was accepted.
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      return socket;
    };
    const scrape = (): Promise<Scrape> => Scrape.of(tunnel.url);
    await waitFor(async () => ((await scrape()).value('gatehouse_tunnels', { state: 'running' }) ?? 0) >= 1);
    const before = await scrape();
    const added = (now: Scrape, name: string, labels: Record<string, string>): number =>
      (now.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
    await exchange(await visit(), 1_000);
    // The edge collects its counters once a second.
    await waitFor(async () => {
      const found = await scrape();
      const bytes = (direction: string): number =>
        added(found, 'gatehouse_tunnel_bytes_total', { kind: 'tunnel', direction });
      return bytes('upload') === 1_000 && bytes('download') === 1_000;
    });
    expect(added(await scrape(), 'gatehouse_tunnel_connections_total', { kind: 'tunnel' })).toBe(1);

    await tunnel.call('PATCH', `/clients/${clientId}`, { max_conn: 1 });
    await visit();
    // The edge may learn the limit after the answer to the request that set it.
    await waitFor(async () => {
      (await visit()).destroy();
      return added(await scrape(), 'gatehouse_tunnel_refusals_total', { reason: 'too_many_connections' }) >= 1;
    });
    await waitFor(async () => (await scrape()).value('gatehouse_tunnel_connections') === 1);
    const found = await scrape();
    expect(found.value('gatehouse_tunnel_agents_online')).toBeGreaterThanOrEqual(1);
    expect(found.value('gatehouse_edge_up')).toBe(1);
    expect(found.value('gatehouse_edge_database_up')).toBe(1);
    expect(found.value('gatehouse_edge_serves_snapshot')).toBe(0);
    expect(found.value('gatehouse_data_plane_resident_memory_bytes', { process: 'edge' })).toBeGreaterThan(1e6);
  });

  it('counts deliveries to webhooks, and knows when certificates end', async () => {
    const { tunnel } = platform;
    const url = `http://127.0.0.1:${await reservePort()}/`;
    const { id } = await tunnel.call('POST', '/webhooks', { name: 'nobody', url });
    await tunnel.call('POST', `/webhooks/${id}/test`).catch(() => undefined);
    await waitFor(async () => {
      const scrape = await Scrape.of(tunnel.url);
      return (scrape.value('gatehouse_webhook_deliveries_total', { result: 'given_up' }) ?? 0) >= 1;
    });
    const scrape = await Scrape.of(tunnel.url);
    expect(scrape.value('gatehouse_certificates', { state: 'expired' })).toBe(0);
    expect(scrape.value('gatehouse_certificate_earliest_expiry_timestamp_seconds')).toBeUndefined();
  });
});

describe('resource-sharing', () => {
  it('counts unlocks, points and tokens', async () => {
    const { sharing } = platform;
    await unlockByApplication(sharing, 3);
    const wrong = { grant_type: 'authorization_code', client_id: 'nobody', client_secret: 'x', code: 'x' };
    expect(await statusOf(`${sharing.url}/oauth2/token`, wrong)).toBeGreaterThanOrEqual(400);
    const scrape = await Scrape.of(sharing.url);
    expect(scrape.value('gatehouse_unlocks_total', { result: 'points' })).toBe(1);
    expect(scrape.value('gatehouse_points_moved_total', { kind: 'unlock' })).toBe(3);
    expect(scrape.value('gatehouse_tokens_issued_total', { grant: 'authorization_code' })).toBe(1);
    expect(scrape.value('gatehouse_tokens_issued_total', { grant: 'refresh_token' })).toBe(1);
    expect(scrape.value('gatehouse_tokens_refused_total')).toBeGreaterThanOrEqual(1);
  });

  it('counts the limits that refused', async () => {
    const login = (): Promise<number> =>
      statusOf(`${platform.sharing.url}/api/site/login`, { username: 'nobody', password: 'wrong' });
    await waitFor(async () => (await login()) === 429);
    const scrape = await Scrape.of(platform.sharing.url);
    expect(scrape.value('gatehouse_limits_hit_total', { limit: 'login' })).toBe(1);
    expect(scrape.value('gatehouse_logins_total', { result: 'refused' })).toBe(1);
  });
});

describe('the names of metrics', () => {
  it('are in docs/metrics.md with type and labels, and nothing else is', async () => {
    const scrapes = Object.values(await platform.scrapeAll());
    const exposed = new Map(scrapes.flatMap(({ types }) => [...types]).filter(([name]) => isOurs(name)));
    const documented = new Map(documentedMetrics().map(({ name, type }) => [name, type]));
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(exposed));
    const labels = new Map(documentedMetrics().map((metric) => [metric.name, new Set([...metric.labels, 'le'])]));
    for (const { name, labels: found } of scrapes.flatMap(({ samples }) => samples)) {
      const known = labels.get(name) ?? labels.get(name.replace(/_(?:bucket|sum|count)$/, ''));
      if (isOurs(name)) for (const label of Object.keys(found)) expect(known, `${name}: ${label}`).toContain(label);
    }
  });

  it('in dashboards and alerts are those of a running process', async () => {
    const scrapes = Object.values(await platform.scrapeAll());
    const exposed = new Set(scrapes.flatMap(({ types }) => [...types.keys()]));
    for (const [file, names] of Object.entries(namesInDeployment((name) => exposed.has(name)))) {
      expect(names.length, file).toBeGreaterThan(0);
      for (const name of names) expect(exposed, `${file}: ${name}`).toContain(name);
    }
  });
});
