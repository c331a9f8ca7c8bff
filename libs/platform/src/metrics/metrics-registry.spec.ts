import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { serveWatchers } from '../http/watch-server.js';
import { MetricsRegistry } from './metrics-registry.js';
import { localMetrics } from './watch-metrics.js';

afterEach(() => vi.useRealTimers());

it('reads each source once for a scrape, and once for scrapes at the same time', async () => {
  const metrics = new MetricsRegistry();
  const value = metrics.gauge('gatehouse_test', 'A test');
  const read = vi.fn(() => Promise.resolve(7));
  metrics.readOnScrape('test', [value], read, (found) => value.set(found));
  const [first, second] = await Promise.all([metrics.render(), metrics.render()]);
  expect(read).toHaveBeenCalledTimes(1);
  expect(first.text).toContain('gatehouse_test 7\n');
  expect(second).toBe(first);
  await metrics.render();
  expect(read).toHaveBeenCalledTimes(2);
  metrics.onApplicationShutdown();
});

it('shows no old figures of a source that fails, and counts that', async () => {
  const metrics = new MetricsRegistry();
  const value = metrics.gauge('gatehouse_test', 'A test', ['state']);
  let works = true;
  const read = (): Promise<number> => (works ? Promise.resolve(7) : Promise.reject(new Error('away')));
  metrics.readOnScrape('test', [value], read, (found) => value.set({ state: 'good' }, found));
  expect((await metrics.render()).text).toContain('gatehouse_test{state="good"} 7\n');
  works = false;
  const { text } = await metrics.render();
  expect(text).not.toContain('gatehouse_test{');
  expect(text).toContain('gatehouse_metrics_unread_total{source="test"} 1\n');
  metrics.onApplicationShutdown();
});

it('answers without a source that hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const metrics = new MetricsRegistry();
  const value = metrics.gauge('gatehouse_test', 'A test', ['state']);
  const never = new Promise<number>(() => undefined);
  metrics.readOnScrape(
    'test',
    [value],
    () => never,
    () => undefined,
  );
  const scrape = metrics.render();
  await vi.advanceTimersByTimeAsync(3_000);
  expect((await scrape).text).toContain('gatehouse_metrics_unread_total{source="test"} 1\n');
  metrics.onApplicationShutdown();
});

it('counts errors by code, and the limits behind them', async () => {
  const metrics = new MetricsRegistry();
  metrics.noteError('NOT_FOUND');
  metrics.noteError('RATE_LIMITED', 'login');
  const { text } = await metrics.render();
  expect(text).toContain('gatehouse_errors_total{code="NOT_FOUND"} 1\n');
  expect(text).toContain('gatehouse_limits_hit_total{limit="login"} 1\n');
  metrics.onApplicationShutdown();
});

it('answers beside health checks to programs of this machine alone', async () => {
  const metrics = new MetricsRegistry();
  const routes = localMetrics(() => metrics.render());
  const server = await serveWatchers({ port: 0, address: '127.0.0.1' }, routes);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  const local = await fetch(url);
  expect([local.status, await local.text()]).toEqual([200, expect.stringContaining('process_cpu_user_seconds_total')]);
  const forwarded = await fetch(url, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect([forwarded.status, await forwarded.text()]).toEqual([404, expect.not.stringContaining('process_cpu')]);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  metrics.onApplicationShutdown();
});
