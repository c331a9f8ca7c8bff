import type { CountryRebuildResult, CountryView, ItemList, JobView, NodeView, Page } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';
import { shadowsocksLink, startProvider } from './support/provider.js';
import { closedPort, startSilentServer, startTestOrigin } from './support/test-nodes.js';
import type { TestOrigin } from './support/test-nodes.js';
import { startUpstreamProxy } from './support/upstream-proxy.js';
import type { UpstreamProxy } from './support/upstream-proxy.js';

let gateway: Gateway;
let trace: TestOrigin;
let upstream: UpstreamProxy;
let dead: number;
beforeAll(async () => {
  gateway = await startGateway();
  [trace, upstream, dead] = await Promise.all([startTestOrigin(), startUpstreamProxy(), closedPort()]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of [trace, upstream]) await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await gateway.call('POST', '/proxies/import?allow_empty=true', { mode: 'replace', nodes: [] });
  await gateway.call('PUT', '/settings', {
    'country.exit_url': trace.url,
    'health.url': trace.url,
    'health.expected_status': '',
    'health.timeout_ms': '2000',
    'health.interval_sec': '86400',
  });
  exitIs('8.8.8.8', 'US');
});

const exitIs = (ip: string, loc: string): void => {
  trace.reply = (_request, response) => response.end(`fl=1\nip=${ip}\nts=1\nloc=${loc}\n`);
};
const rebuild = (): Promise<Answer<CountryRebuildResult>> => gateway.call('POST', '/proxies/rebuild-countries');
const countries = async (): Promise<ItemList<CountryView>> => (await gateway.call('GET', '/countries')).body;
const page = async (): Promise<NodeView[]> =>
  (await gateway.call<Page<NodeView>>('GET', '/proxies?limit=500')).body.items;
const add = async (raw_config: string, name: string): Promise<NodeView> =>
  (await gateway.call('POST', '/proxies', { raw_config, name })).body;
const living = (user: string): string => `http://${user}:p@127.0.0.1:${upstream.port}`;
const server = (address: string): string => `ss://YWVzLTEyOC1nY206cA@${address}:443`;

describe('POST /proxies/rebuild-countries', () => {
  it('finds every country in the best available way, and reports which', async () => {
    await add(living('exit'), '\u{1f1ef}\u{1f1f5} says Japan');
    const chosen = await add(living('chosen'), 'chosen');
    await gateway.call('PUT', `/proxies/${chosen.id}`, { country: 'CH' });
    await add(`http://127.0.0.1:${dead}`, '\u{1f1eb}\u{1f1f7} dead');
    await add('hysteria2://p@[2001:4860:4860::8888]:443?sni=a.example', '\u{1f1e9}\u{1f1ea} server knows better');
    await add('hysteria2://p@127.0.0.2:443?sni=a.example', 'nothing to go by');
    const { status, body } = await rebuild();
    expect([status, body]).toMatchObject([
      200,
      {
        total: 5,
        unknown: 1,
        by_source: { exit_ip: 1, manual: 1, server_ip: 1, name: 1 },
        duration_ms: expect.any(Number),
        job_id: expect.stringMatching(/^country-detection\./),
      },
    ]);
    expect(body.changed + body.unchanged).toBe(5);
    expect(await page()).toMatchObject([
      { country: 'US', country_source: 'exit_ip', exit_ip: '8.8.8.8' },
      { country: 'CH', country_source: 'manual', exit_ip: '8.8.8.8' },
      { country: 'FR', country_source: 'name', exit_ip: null },
      { country: 'US', country_source: 'server_ip' },
      { country: null, country_source: 'none', country_name: null },
    ]);
    expect((await gateway.call<JobView>('GET', `/jobs/${body.job_id}`)).body).toMatchObject({
      status: 'done',
      type: 'country-detection',
      result: { total: 5 },
    });
    expect((await rebuild()).body).toMatchObject({ changed: 0, unchanged: 5 });
  });

  it('follows an exit that moved, and keeps it while no service answers', async () => {
    await add(living('a'), 'a');
    await rebuild();
    exitIs('1.1.1.1', 'AU');
    expect((await rebuild()).body.by_source.exit_ip).toBe(1);
    const [moved] = await page();
    expect(moved).toMatchObject({ exit_ip: '1.1.1.1', country_source: 'exit_ip' });
    trace.reply = (_request, response) => response.writeHead(500).end();
    expect((await rebuild()).body).toMatchObject({ changed: 0 });
    expect(await page()).toMatchObject([{ exit_ip: '1.1.1.1', country: moved!.country, country_source: 'exit_ip' }]);
  });

  it('asks no service if the setting is empty', async () => {
    await gateway.call('PUT', '/settings', { 'country.exit_url': '' });
    await add(living('a'), '\u{1f1ef}\u{1f1f5} a');
    trace.requests = 0;
    expect((await rebuild()).body).toMatchObject({ by_source: { exit_ip: 0, name: 1 } });
    expect(trace.requests).toBe(0);
  });

  it('is one job for concurrent requests, and can be cancelled', async () => {
    await using silent = await startSilentServer();
    await gateway.call('PUT', '/settings', { 'health.timeout_ms': '60000' });
    await add(`http://127.0.0.1:${silent.port}`, 'silent');
    using waits = vi.spyOn(gateway.app.app.get(Jobs), 'waitFor');
    const asked = [rebuild(), rebuild()];
    await waitFor(() => silent.open() === 1 && waits.mock.calls.length === 2);
    const id = await waitFor(async () => runningJob());
    expect((await gateway.call('DELETE', `/jobs/${id}`)).status).toBe(200);
    for (const { status, body } of (await Promise.all(asked)) as Answer[]) {
      expect([status, body.code]).toEqual([409, 'CONFLICT']);
      expect(body.error).toContain(id);
    }
    expect(silent.peak()).toBe(1);
    expect(await page()).toMatchObject([{ exit_ip: null }]);
  });

  it('works without nodes, and needs more than the scope read', async () => {
    expect((await rebuild()).body).toMatchObject({ total: 0, changed: 0, unknown: 0 });
    const { body } = await gateway.call('POST', '/api-keys', { name: 'r', scopes: ['read'] });
    const headers = { 'x-api-key': body.key };
    const refused = await fetch(`${gateway.app.url}/api/v1/proxies/rebuild-countries`, { method: 'POST', headers });
    expect(refused.status).toBe(403);
  });

  it('runs once for living nodes after a test', async () => {
    await add(living('a'), 'a');
    await gateway.call('POST', '/proxies/test-all?wait=true');
    await waitFor(async () => (await page())[0]!.exit_ip === '8.8.8.8');
    trace.requests = 0;
    await gateway.call('POST', '/proxies/test-all?wait=true');
    await waitFor(async () => (await runningJob()) === undefined);
    expect(trace.requests).toBe(1);
  });

  it('runs for a node whose chosen country is removed', async () => {
    const { id } = await add(living('a'), 'a');
    await gateway.call('PUT', `/proxies/${id}`, { country: 'CH' });
    await gateway.call('PUT', `/proxies/${id}`, { country: null });
    await waitFor(async () => (await page())[0]!.country === 'US');
    expect(await page()).toMatchObject([{ country_source: 'exit_ip', exit_ip: '8.8.8.8' }]);
  });
});

/** The id of a running detection. */
async function runningJob(): Promise<string | undefined> {
  const [job] = await gateway.app.app.get(Jobs).unfinished('country-detection');
  return job && `country-detection.${job.id}`;
}

describe('GET /countries', () => {
  it('counts nodes by country, the most first and the unknown last', async () => {
    await using provider = await startProvider();
    provider.list(shadowsocksLink('theirs', '\u{1f1ef}\u{1f1f5} theirs'));
    const subscription = await gateway.call('POST', '/subscriptions', {
      name: 's',
      url: provider.url,
      interval_sec: 3600,
      allow_private: true,
    });
    await gateway.call('POST', `/subscriptions/${subscription.body.id}/refresh`);
    const database = gateway.app.app.get(DataSource);
    const health = (id: number, alive: boolean, delay: number | null): Promise<unknown> =>
      database.query(
        `INSERT INTO node_health (node_id, test_url, alive, delay_ms, last_tested_at) VALUES ($1, '', $2, $3, now())`,
        [id, alive, delay],
      );
    const slow = await add(server('192.0.2.11'), '\u{1f1ef}\u{1f1f5} slow');
    const fast = await add(server('192.0.2.12'), '\u{1f1ef}\u{1f1f5} fast');
    const off = await add(server('192.0.2.13'), '\u{1f1ef}\u{1f1f5} off');
    const gone = await add(server('192.0.2.14'), '\u{1f1e9}\u{1f1ea} gone');
    await add(server('192.0.2.15'), 'nowhere');
    await add(server('192.0.2.16'), 'nowhere either');
    await gateway.call('PUT', `/proxies/${off.id}`, { enabled: false });
    await health(slow.id, true, 300);
    await health(fast.id, true, 100);
    await health(off.id, true, 50);
    await health(gone.id, false, null);
    await database.query(
      `INSERT INTO traffic_totals (outbound, node_id, requests, errors, upload, download, last_seen_at) VALUES ($1, $2, 1, 0, 5, 6, now())`,
      [`n${fast.id}`, fast.id],
    );
    expect(await countries()).toEqual({
      total: 3,
      items: [
        {
          code: 'JP',
          name: 'Japan',
          flag: '\u{1f1ef}\u{1f1f5}',
          node_count: 4,
          enabled_count: 3,
          alive_count: 3,
          untested_count: 1,
          manual_count: 3,
          subscription_count: 1,
          avg_delay_ms: 150,
          min_delay_ms: 50,
          best_node: { id: fast.id, name: fast.name, delay_ms: 100 },
          upload_total: 5,
          download_total: 6,
        },
        expect.objectContaining({ code: 'DE', node_count: 1, alive_count: 0, avg_delay_ms: null, best_node: null }),
        expect.objectContaining({ code: null, name: 'Unknown', flag: null, node_count: 2, untested_count: 2 }),
      ],
    });
    await gateway.call('DELETE', `/subscriptions/${subscription.body.id}`);
  });

  it('is empty without nodes', async () => {
    expect(await countries()).toEqual({ items: [], total: 0 });
  });
});
