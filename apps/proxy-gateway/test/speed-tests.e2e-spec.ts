import { request } from 'node:http';
import type { JobView, NodeTestResult, NodeView, Page, SpeedTestView } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { NodeTester } from '../src/measuring/node-tester.js';
import { listeningPort, startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';
import { closedPort, startSilentServer, startTestOrigin } from './support/test-nodes.js';
import type { SilentServer, TestOrigin } from './support/test-nodes.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let origin: TestOrigin;
let upstream: UpstreamProxy;
let silent: SilentServer;
let dead: number;
beforeAll(async () => {
  gateway = await startGateway();
  [origin, upstream, silent, dead] = await Promise.all([
    startTestOrigin(),
    startUpstreamProxy(),
    startSilentServer(),
    closedPort(),
  ]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [origin, upstream, silent]) await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await gateway.call('POST', '/proxies/import?allow_empty=true', { mode: 'replace', nodes: [] });
  await set({
    'health.url': origin.url,
    'health.expected_status': '204',
    'health.timeout_ms': '5000',
    'health.concurrency': '128',
    'health.interval_sec': '86400',
    'country.exit_url': '',
  });
  origin.requests = 0;
  origin.reply = (_request, response) => response.writeHead(204).end();
});

/** The status of a plain HTTP request through the kernel; undefined without an answer. */
function viaProxy(port: number, url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: url, headers: { host: new URL(url).host }, agent: false });
    asked.on('response', (response) => resolve(response.resume().statusCode));
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}

const set = async (settings: Record<string, string>): Promise<void> => {
  expect(await gateway.call('PUT', '/settings', settings)).toMatchObject({ status: 200 });
};
const test = (id: number): Promise<Answer<NodeTestResult>> => gateway.call('POST', `/proxies/${id}/test`);
const testAll = (query = ''): Promise<Answer<SpeedTestView>> => gateway.call('POST', `/proxies/test-all${query}`);
const job = (id: string, query = ''): Promise<Answer<JobView>> => gateway.call('GET', `/jobs/${id}${query}`);
const page = async (): Promise<NodeView[]> =>
  (await gateway.call<Page<NodeView>>('GET', '/proxies?limit=500')).body.items;
const add = async (raw_config: string, name?: string): Promise<NodeView> =>
  (await gateway.call('POST', '/proxies', { raw_config, ...(name ? { name } : {}) })).body;
const proxyOn = (port: number, user = 'u'): string => `http://${user}:p@127.0.0.1:${port}`;
const many = (count: number, port: number): Promise<Answer> =>
  gateway.call('POST', '/proxies/import', {
    text: Array.from({ length: count }, (_, index) => proxyOn(port, `u${index}`)).join('\n'),
  });

describe('POST /proxies/{id}/test', () => {
  it('measures a living node, stage by stage, and stores the result', async () => {
    const { id } = await add(proxyOn(upstream.port));
    const { status, body } = await test(id);
    expect([status, body]).toMatchObject([
      200,
      {
        id,
        ok: true,
        delay_ms: expect.any(Number),
        http_status: 204,
        test_url: origin.url,
        timings: { dns_ms: null, connect_ms: expect.any(Number), ttfb_ms: expect.any(Number) },
        exit_ip: null,
        error: null,
      },
    ]);
    await test(id);
    expect(await page()).toMatchObject([
      {
        alive: true,
        last_error: null,
        failure_count: 0,
        success_rate: 1,
        delay_history: [{ delay_ms: expect.any(Number) }, { delay_ms: expect.any(Number) }],
      },
    ]);
  });

  it('reports why a node is dead, and counts failures', async () => {
    const { id } = await add(proxyOn(dead));
    for (const failures of [1, 2]) {
      expect((await test(id)).body).toMatchObject({ ok: false, delay_ms: null, error: { code: 'connection_refused' } });
      expect(await page()).toMatchObject([{ alive: false, failure_count: failures, success_rate: 0 }]);
    }
    await gateway.call('PUT', `/proxies/${id}`, { raw_config: proxyOn(upstream.port) });
    await test(id);
    expect(await page()).toMatchObject([{ alive: true, failure_count: 0, success_rate: 0.333, last_error: null }]);
  });

  it('ends at the timeout, and treats another status as a failure', async () => {
    await set({ 'health.timeout_ms': '200' });
    const waiting = await add(proxyOn(silent.port));
    expect((await test(waiting.id)).body).toMatchObject({ ok: false, error: { code: 'timeout' } });
    origin.reply = (_request, response) => response.writeHead(503).end();
    const other = await add(proxyOn(upstream.port));
    expect((await test(other.id)).body).toMatchObject({
      ok: false,
      http_status: 503,
      error: { code: 'unexpected_status' },
    });
    await set({ 'health.expected_status': '' });
    expect((await test(other.id)).body).toMatchObject({ ok: true, http_status: 503 });
  });

  it('keeps the last ten delays', async () => {
    const { id } = await add(proxyOn(upstream.port));
    for (let count = 0; count < 12; count++) await test(id);
    const [node] = await page();
    expect(node!.delay_history).toHaveLength(10);
    expect(node!.delay_history.at(-1)!.time).toBe(node!.last_tested_at);
  });

  it('measures once for concurrent requests', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    origin.reply = (_request, response) => void promise.then(() => response.writeHead(204).end());
    const { id } = await add(proxyOn(upstream.port));
    const probed = vi.spyOn(gateway.app.app.get(NodeTester, { strict: false }), 'probe');
    const asked = [test(id), test(id), test(id)];
    // Only then have all three reached the point where they join.
    await waitFor(() => probed.mock.calls.length === 3);
    resolve();
    const times = (await Promise.all(asked)).map(({ body }) => body.tested_at);
    expect(new Set(times).size).toBe(1);
    expect(origin.requests).toBe(1);
  });

  it('tests a disabled node, and refuses one that is not dialled here or does not exist', async () => {
    const { id } = await add(proxyOn(upstream.port));
    await gateway.call('PUT', `/proxies/${id}`, { enabled: false });
    expect((await test(id)).body).toMatchObject({ ok: true });
    const external = await add('hysteria2://p@192.0.2.1:443?sni=a.example');
    expect((await test(external.id)) as Answer).toMatchObject({
      status: 422,
      body: { code: 'UNPROCESSABLE', error: expect.stringContaining('hysteria2') },
    });
    expect((await test(4711)).status).toBe(404);
    expect((await gateway.call('POST', '/proxies/x/test')).status).toBe(400);
  });

  it('dials through another node if the definition says so', async () => {
    await using hop = await startUpstreamProxy();
    await add(proxyOn(hop.port), 'hop');
    const entry = { name: 'far', type: 'http', server: '127.0.0.1', port: upstream.port, 'dialer-proxy': 'hop' };
    const far = await add(JSON.stringify(entry));
    expect((await test(far.id)).body).toMatchObject({ ok: true });
    expect(hop.targets).toEqual([`127.0.0.1:${upstream.port}`]);
    const lost = await add(JSON.stringify({ ...entry, port: 1, 'dialer-proxy': 'gone' }));
    expect((await test(lost.id)) as Answer).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('gone') },
    });
    const { body } = await testAll('?wait=true');
    expect(body).toMatchObject({ total: 2, ok: 2, skipped: 1 });
  });
});

describe('POST /proxies/test-all', () => {
  it('tests every enabled node that is dialled here, and reports its progress', async () => {
    const living = await add(proxyOn(upstream.port));
    const gone = await add(proxyOn(dead));
    await add('hysteria2://p@192.0.2.1:443?sni=a.example');
    const off = await add(proxyOn(upstream.port, 'off'));
    await gateway.call('PUT', `/proxies/${off.id}`, { enabled: false });
    const { status, body } = await testAll('?wait=true');
    expect([status, body]).toMatchObject([
      200,
      {
        job_id: expect.stringMatching(/^speed-test\./),
        status: 'done',
        total: 2,
        tested: 2,
        ok: 1,
        failed: 1,
        skipped: 1,
        concurrency: 128,
        started_at: expect.any(String),
        finished_at: expect.any(String),
        duration_ms: expect.any(Number),
        results: [
          { id: living.id, ok: true, delay_ms: expect.any(Number), error: null },
          { id: gone.id, ok: false, delay_ms: null, error: { code: 'connection_refused' } },
        ],
        results_total: 2,
        limit: 50,
        offset: 0,
      },
    ]);
    expect((await page()).map(({ alive }) => alive)).toEqual([true, false, null, null]);
    expect((await testAll('?wait=true&limit=1&offset=1')).body.results).toMatchObject([{ id: gone.id }]);
  });

  it('answers at once with the same job for all requests while it runs', async () => {
    await set({ 'health.timeout_ms': '60000' });
    await many(20, silent.port);
    const first = await testAll();
    expect(first.body).toMatchObject({ status: expect.stringMatching(/queued|running/), results: [] });
    const others = await Promise.all([testAll(), testAll(), testAll()]);
    for (const { body } of others) expect(body.job_id).toBe(first.body.job_id);
    await waitFor(async () => (await job(first.body.job_id)).body.status === 'running');
    await waitFor(() => silent.open() === 8);
    expect((await job(first.body.job_id)).body).toMatchObject({
      progress: { total: 20, tested: 0 },
      result: { results: [], results_total: 0 },
    });
    const cancelled = await gateway.call('DELETE', `/jobs/${first.body.job_id}`);
    expect(cancelled.status).toBe(200);
    await waitFor(async () => (await job(first.body.job_id)).body.status === 'cancelled');
    await waitFor(() => silent.open() === 0);
    expect(silent.peak()).toBe(8);
    const next = await testAll();
    expect(next.body.job_id).not.toBe(first.body.job_id);
    await gateway.call('DELETE', `/jobs/${next.body.job_id}`);
    await waitFor(async () => (await job(next.body.job_id)).body.status === 'cancelled');
  });

  it('keeps measurements from before it was cancelled', async () => {
    await set({ 'health.timeout_ms': '60000' });
    const { id } = await add(proxyOn(upstream.port));
    await many(3, silent.port);
    const { body } = await testAll();
    await waitFor(async () => (await page()).find((node) => node.id === id)?.alive === true);
    await gateway.call('DELETE', `/jobs/${body.job_id}`);
    await waitFor(async () => (await job(body.job_id)).body.status === 'cancelled');
    expect((await job(body.job_id)).body.result).toMatchObject({
      total: 4,
      tested: 1,
      ok: 1,
      results: [{ id, ok: true }],
      results_total: 1,
    });
  });

  it('measures no more than the window at once, and finishes dead nodes fast', async () => {
    await set({ 'health.timeout_ms': '300', 'health.concurrency': '4' });
    await many(12, silent.port);
    await waitFor(() => silent.open() === 0);
    const { body } = await testAll('?wait=true');
    expect(body).toMatchObject({ status: 'done', total: 12, failed: 12, concurrency: 4 });
  });

  it('works with nothing to test', async () => {
    expect((await testAll('?wait=true')).body).toMatchObject({ status: 'done', total: 0, tested: 0, results: [] });
  });

  it('tests hundreds of living nodes quickly', async () => {
    await many(300, upstream.port);
    const { body } = await testAll('?wait=true&limit=500');
    expect(body).toMatchObject({ status: 'done', total: 300, ok: 300, results_total: 300 });
    expect(body.results).toHaveLength(300);
    expect(origin.requests).toBe(300);
  });

  it.each(['limit=501', 'limit=0', 'offset=-1', 'wait=1', 'more=1'])('refuses ?%s', async (query) => {
    const { status, body }: Answer = await testAll(`?${query}`);
    expect([status, body.details[0].field]).toEqual([400, query.split('=')[0]]);
  });

  it('needs more than the scope read', async () => {
    const { body } = await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] });
    for (const path of ['/proxies/test-all', '/proxies/1/test']) {
      const { status } = await fetch(`${gateway.app.url}/api/v1${path}`, {
        method: 'POST',
        headers: { 'x-api-key': body.key },
      });
      expect(status).toBe(403);
    }
  });
});

describe('health', () => {
  it('reaches the kernel within a second, and again after a restart of the kernel', async () => {
    const slow = await add(proxyOn(dead), 'slow');
    const fast = await add(proxyOn(upstream.port), 'fast');
    const created = await gateway.call('POST', '/outbound/groups', {
      name: 'FOLLOWS',
      type: 'fallback',
      members: [`n${slow.id}`, `n${fast.id}`],
    });
    expect(created.status).toBe(201);
    const now = async () => (await gateway.kernel.groupsInUse()).find(({ name }) => name === 'FOLLOWS')?.now;
    await testAll('?wait=true');
    await waitFor(async () => (await now()) === `n${fast.id}`, { timeoutMs: 1_500 });
    const { body } = await gateway.call('GET', '/system/status');
    process.kill(body.kernel.pid, 'SIGKILL');
    await waitFor(async () => (await now().catch(() => null)) === `n${fast.id}`, { timeoutMs: 10_000 });
    await gateway.call('DELETE', '/outbound/groups/FOLLOWS');
  });

  it('is measured for groups with their own test address', async () => {
    await using own = await startTestOrigin();
    own.reply = (_request, response) => response.writeHead(500).end();
    const node = await add(proxyOn(upstream.port));
    const created = await gateway.call('POST', '/outbound/groups', {
      name: 'OWN',
      type: 'url-test',
      members: [`n${node.id}`],
      test_url: own.url,
      expected_status: '204',
    });
    expect(created.status).toBe(201);
    const { body } = await testAll('?wait=true');
    expect(body).toMatchObject({ total: 1, ok: 1, results_total: 1 });
    const rows = await gateway.app.app
      .get(DataSource)
      .query('SELECT test_url, alive FROM node_health WHERE node_id = $1 ORDER BY test_url', [node.id]);
    expect(rows).toEqual([
      { test_url: '', alive: true },
      { test_url: own.url, alive: false },
    ]);
    await gateway.call('DELETE', '/outbound/groups/OWN');
    await testAll('?wait=true');
    const left = await gateway.app.app.get(DataSource).query('SELECT DISTINCT test_url FROM node_health');
    expect(left).toEqual([{ test_url: '' }]);
  });

  it('shows since when the kernel fails to connect through a node', async () => {
    const { id } = await add(proxyOn(dead));
    await gateway.call('PUT', '/outbound/default-policy', { policy: `n${id}` });
    // After a restart the kernel may have another port.
    const port = await listeningPort(gateway.kernel);
    const ask = (): Promise<number | undefined> => viaProxy(port, origin.url);
    const since = async (): Promise<string | null> => (await page())[0]!.circuit_open_since;
    expect(await since()).toBeNull();
    await waitFor(async () => {
      await ask();
      return (await since()) !== null;
    });
    expect(new Date((await since())!).getTime()).toBeLessThanOrEqual(Date.now());
    await gateway.call('PUT', `/proxies/${id}`, { raw_config: proxyOn(upstream.port) });
    await waitFor(
      async () => {
        await ask();
        return (await since()) === null;
      },
      { timeoutMs: 15_000 },
    );
    await gateway.call('PUT', '/outbound/default-policy', { policy: 'PROXY' });
  });

  it('skips nodes that cannot be dialled through their dialer, with the reason', async () => {
    const entry = { type: 'http', server: '127.0.0.1', port: upstream.port };
    const hop = await add(proxyOn(upstream.port), 'hop');
    const far = await add(JSON.stringify({ ...entry, name: 'far', username: 'far', 'dialer-proxy': 'hop' }));
    const lost = await add(JSON.stringify({ ...entry, name: 'lost', username: 'lost', 'dialer-proxy': 'gone' }));
    const loop = await add(JSON.stringify({ ...entry, name: 'loop', username: 'loop', 'dialer-proxy': 'PROXY' }));
    const { body } = await gateway.call('GET', '/system/status');
    expect(body.kernel.left_out).toMatchObject([
      { node_id: lost.id, reason: expect.stringContaining('gone') },
      { node_id: loop.id, reason: expect.stringContaining('itself') },
    ]);
    expect(gateway.kernel.config?.outbounds).toMatchObject([
      { tag: `n${hop.id}` },
      { tag: `n${far.id}`, dialer: `n${hop.id}` },
    ]);
  });

  it('is measured on a schedule that follows the setting, and not because the kernel was reloaded', async () => {
    await add(proxyOn(upstream.port));
    await gateway.call('POST', '/system/reload');
    expect(origin.requests).toBe(0);
    expect(await gateway.app.app.get(Jobs).schedulers('speed-test')).toEqual(['health']);
    await set({ 'health.interval_sec': '10' });
    await waitFor(() => origin.requests > 0, { timeoutMs: 18_000 });
    await waitFor(async () => (await page())[0]!.alive === true);
    await set({ 'health.interval_sec': '86400' });
  }, 30_000);
});
