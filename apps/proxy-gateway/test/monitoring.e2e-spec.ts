import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aConnection, aDelta, aRecord } from './support/flows.js';
import { startTestApi } from './support/test-api.js';
import type { TestApi } from './support/test-api.js';

const TABLES = 'traffic_logs, traffic_log_days, traffic_domain_hourly, traffic_node_hourly, traffic_totals';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    prepare: async (dataSource) => {
      await dataSource.query(`INSERT INTO nodes (id, fingerprint, source, original_name, type, server, port, network, tls, udp, config, country)
        VALUES (7, 'a', 'subscription', 'Tokyo', 'ss', 's', 1, 'tcp', 'none', true, 'sealed', 'JP'),
               (8, 'b', 'manual', 'Paris', 'trojan', 's', 2, 'tcp', 'none', true, 'sealed', 'FR')`);
      await dataSource.query(`INSERT INTO subscriptions (id, name, sealed_url, type, interval_sec, enabled, status, traffic) VALUES
        (1, 'Provider', 'sealed', 'auto', 3600, true, 'error', jsonb_build_object('expire_at', to_char(now() AT TIME ZONE 'UTC' + interval '2 days', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))),
        (2, 'Other', 'sealed', 'auto', 3600, false, 'never', NULL)`);
      await dataSource.query(
        `INSERT INTO node_sources (subscription_id, node_id, name, position) VALUES (1, 7, 'Tokyo', 0)`,
      );
    },
  });
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.dataSource.query(`TRUNCATE ${TABLES}`);
  api.kernel.open = [];
  api.kernel.down = false;
});

const get = (path: string) => api.call('GET', path);
const logged = async (count: number) =>
  waitFor(async () => {
    const answer = await get('/traffic-logs');
    return answer.body.total === count ? answer.body : null;
  });

describe('connections', () => {
  it('shows the open ones with names in place of tags', async () => {
    api.kernel.open = [aConnection({ id: 'k-1' })];
    const answer = await get('/connections');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      upload_total: 0,
      download_total: 0,
      upload_speed: expect.any(Number),
      download_speed: expect.any(Number),
      memory_bytes: 50_000_000,
      count: 1,
      total: 1,
      connections: [
        {
          id: 'k-1',
          network: 'tcp',
          type: 'HTTPS',
          source_ip: '192.168.1.20',
          source_port: 50_000,
          host: 'example.com',
          sniff_host: null,
          destination_ip: null,
          destination_port: 443,
          remote_destination: '198.51.100.7',
          destination_country: null,
          destination_asn: null,
          inbound_name: 'mixed',
          inbound_user: null,
          dns_mode: 'normal',
          process: null,
          rule: 'DOMAIN-SUFFIX',
          rule_payload: 'example.com',
          rule_id: 1,
          chains: ['PROXY', 'Tokyo'],
          provider_chains: ['Provider'],
          node_id: 7,
          node_name: 'Tokyo',
          node_country: 'JP',
          upload: 100,
          download: 2_000,
          upload_speed: 10,
          download_speed: 20,
          start: '2026-05-17T12:00:00.000Z',
          duration_ms: expect.any(Number),
          state: 'open',
          kernel: null,
        },
      ],
      limit: null,
      offset: 0,
    });
  });

  it('pages and sorts, counting them all', async () => {
    api.kernel.open = [3, 1, 2].map((upload) => aConnection({ id: `k-${upload}`, upload }));
    const answer = await get('/connections?limit=2&offset=1&sort=-upload');
    expect(answer.body).toMatchObject({ count: 3, limit: 2, offset: 1 });
    expect(answer.body.connections.map((each: { id: string }) => each.id)).toEqual(['k-2', 'k-1']);
    for (const query of ['limit=0', 'limit=501', 'offset=-1', 'sort=colour', 'sort=upload&sort=host', 'page=2']) {
      const refused = await get(`/connections?${query}`);
      expect(refused.status, query).toBe(400);
      expect(refused.body.details[0].field, query).toBe(query.split('=')[0]);
    }
  });

  it('closes one or all', async () => {
    api.kernel.open = ['a', 'b', 'c'].map((id) => aConnection({ id }));
    expect(await api.call('DELETE', '/connections/b')).toMatchObject({ status: 200, body: { closed: 1 } });
    expect(await api.call('DELETE', '/connections/b')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await api.call('DELETE', '/connections')).toMatchObject({ status: 200, body: { closed: 2 } });
    expect((await get('/connections')).body.connections).toEqual([]);
  });

  it('finds the matching ones, and closes them', async () => {
    const { rule } = aConnection();
    api.kernel.open = [
      aConnection({ id: 'a', host: 'cdn.Example.org', inboundName: 'http', network: 'udp' }),
      aConnection({ id: 'b', nodeTag: 'n8', chain: ['PROXY', 'JP', 'n8'], rule: { ...rule!, id: 5 } }),
      aConnection({
        id: 'c',
        host: null,
        destinationIp: '1.1.1.1',
        sniffHost: 'seen.test',
        nodeTag: null,
        chain: ['DIRECT'],
      }),
      aConnection({ id: 'd', rule: null, sourceIp: '192.168.1.77', inboundName: 'socks' }),
    ];
    const ids = async (query: string) => {
      const { body } = await get(`/connections?sort=host&${query}`);
      expect([body.count, body.total]).toEqual([4, body.connections.length]);
      return body.connections
        .map((each: { id: string }) => each.id)
        .sort()
        .join('');
    };
    expect(await ids('search=example.ORG')).toBe('a');
    expect(await ids('search=paris')).toBe('b');
    expect(await ids('search=seen')).toBe('c');
    expect(await ids('node_id=8')).toBe('b');
    expect(await ids('rule_id=5')).toBe('b');
    expect(await ids('rule_id=1&inbound=mixed')).toBe('c');
    expect(await ids('inbound=http&network=udp')).toBe('a');
    expect(await ids('group=PROXY')).toBe('abd');
    expect(await ids('group=n8')).toBe('');
    expect(await ids('node=DIRECT')).toBe('c');
    expect(await ids('node=n8')).toBe('');
    expect(await ids('node=Paris')).toBe('b');
    expect(await ids('rule=DOMAIN-SUFFIX,example.com')).toBe('abc');
    expect(await ids('rule=DOMAIN-SUFFIX')).toBe('');
    expect(await ids('rule=none')).toBe('d');
    expect(await ids('source_ip=192.168.1.77')).toBe('d');
    const direct = (await get('/connections?search=1.1.1.1')).body.connections[0];
    expect(direct).toMatchObject({ sniff_host: 'seen.test', destination_country: expect.stringMatching(/^[A-Z]{2}$/) });
    for (const query of [
      'search=',
      'node_id=x',
      'rule_id=0',
      'inbound=',
      'network=sctp',
      'source_ip=x',
      'rule=',
      'search=a&search=b',
    ]) {
      expect((await get(`/connections?${query}`)).status, query).toBe(400);
      expect((await api.call('DELETE', `/connections?${query}`)).status, query).toBe(400);
    }
    expect((await api.call('DELETE', '/connections?group=JP')).body).toEqual({ closed: 1 });
    expect((await api.call('DELETE', '/connections?group=JP')).body).toEqual({ closed: 0 });
    expect((await api.call('DELETE', '/connections?sort=host')).status).toBe(400);
    expect(api.kernel.open.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
  });

  it('answers 503 while the kernel is down', async () => {
    api.kernel.down = true;
    expect((await get('/connections')).status).toBe(503);
    expect((await api.call('DELETE', '/connections')).status).toBe(503);
  });
});

describe('traffic logs', () => {
  it('shows finished connections of the kernel soon', async () => {
    api.kernel.emit({ closed: [aRecord({ endedAt: Date.now() })] });
    const began = performance.now();
    const { items } = await logged(1);
    // Ten times the promised time, for a busy machine.
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(items).toMatchObject([
      {
        host: 'example.com',
        node_id: 7,
        node_name: 'Tokyo',
        node_country: 'JP',
        chains: ['PROXY', 'Tokyo'],
        upload: 100,
        download: 2_000,
      },
    ]);
  });

  it('names a node that was deleted while its connection was open', async () => {
    await api.dataSource
      .query(`INSERT INTO nodes (id, fingerprint, source, original_name, type, server, port, network, tls, udp, config)
      VALUES (9, 'z', 'manual', 'Short-lived', 'ss', 's', 1, 'tcp', 'none', true, 'sealed')`);
    api.kernel.emit({ closed: [aRecord({ nodeTag: 'n9', chain: ['n9'] })] });
    await logged(1);
    await api.dataSource.query('DELETE FROM nodes WHERE id = 9');
    api.kernel.emit({ closed: [aRecord({ nodeTag: 'n9', chain: ['n9'] })] });
    const { items } = await logged(2);
    expect(items.map((item: { node_name: string }) => item.node_name)).toEqual(['Short-lived', 'Short-lived']);
  });

  it('finds by keyword and pages through the API', async () => {
    api.kernel.emit({ closed: ['a.example', 'b.example', 'c.test'].map((host) => aRecord({ host, rule: null })) });
    await logged(3);
    const answer = await get('/traffic-logs?keyword=.EXAMPLE&limit=1');
    expect(answer.body).toMatchObject({ total: 2, limit: 1, offset: 0, next_cursor: expect.any(String) });
    const next = await get(`/traffic-logs?keyword=.example&limit=1&cursor=${answer.body.next_cursor}`);
    expect(next.body.items[0].id).toBeLessThan(answer.body.items[0].id);
    expect((await get('/traffic-logs?limit=501')).status).toBe(400);
    expect((await get('/traffic-logs?keyword=%25')).body.total).toBe(0);
  });
});

describe('dashboard', () => {
  it('combines live, past and counted figures', async () => {
    api.kernel.open = [
      aConnection({ id: '1' }),
      aConnection({ id: '2', host: 'other.example', nodeTag: 'n8', chain: ['PROXY', 'n8'] }),
      aConnection({ id: '3', nodeTag: null, chain: ['DIRECT'], rule: null }),
    ];
    const now = Date.now();
    api.kernel.emit({
      closed: [
        aRecord({ endedAt: now }),
        aRecord({ endedAt: now, host: 'bad.example', status: 'failed', upload: 0, download: 0 }),
      ],
      traffic: [
        aDelta({
          at: now,
          upload: 105,
          download: 2_010,
          outbounds: {
            n7: { upload: 100, download: 2_000, opened: 2, failed: 1 },
            DIRECT: { upload: 5, download: 10, opened: 1, failed: 0 },
          },
        }),
      ],
    });
    await logged(2);
    const { status, body } = await get('/dashboard');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      generated_at: expect.stringMatching(/Z$/),
      traffic: {
        upload_total: 105,
        download_total: 2_010,
        upload_speed: expect.any(Number),
        download_speed: expect.any(Number),
      },
      connections: { active: 3, opened_total: 3, failed_total: 1 },
      nodes: {
        total: 2,
        enabled: 2,
        alive: 0,
        dead: 0,
        untested: 2,
        unsupported: 0,
        by_type: { ss: 1, trojan: 1 },
        countries: 2,
      },
      subscriptions: { total: 2, enabled: 1, failing: 1, expiring_soon: 1 },
      rules: { total: 0, manual: 0, hits: 0 },
      kernel: {
        state: 'running',
        version: expect.any(String),
        uptime_sec: expect.any(Number),
        memory_bytes: 50_000_000,
      },
    });
    expect(body.traffic.series).toHaveLength(24);
    expect(body.traffic.series.at(-1)).toMatchObject({ up: 105, down: 2_010 });
    expect(body.traffic.minutes).toHaveLength(60);
    expect(body.traffic.seconds).toHaveLength(60);
    for (const list of ['minutes', 'seconds']) {
      const points: { up: number; down: number }[] = body.traffic[list];
      expect([points.reduce((sum, { up }) => sum + up, 0), Math.max(...points.map(({ down }) => down))]).toEqual([
        expect.any(Number),
        2_010,
      ]);
    }
    expect(body.live_domains).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect(body.live_domains.items[0]).toEqual({
      domain: 'example.com',
      connections: 2,
      upload: 200,
      download: 4_000,
      upload_speed: 20,
      download_speed: 40,
      node_count: 1,
    });
    expect(body.live_nodes.items.map((item: { node_id: number; name: string }) => [item.node_id, item.name])).toEqual([
      [null, 'DIRECT'],
      [7, 'Tokyo'],
      [8, 'Paris'],
    ]);
    expect(
      body.period_domains.items.map((item: { domain: string; errors: number }) => [item.domain, item.errors]),
    ).toEqual([
      ['example.com', 0],
      ['bad.example', 1],
    ]);
    expect(body.period_nodes.items).toEqual([
      {
        node_id: 7,
        name: 'Tokyo',
        country: 'JP',
        requests: 2,
        errors: 1,
        success_rate: 0.5,
        avg_delay_ms: null,
        upload: 100,
        download: 2_000,
      },
      {
        node_id: null,
        name: 'DIRECT',
        country: null,
        requests: 1,
        errors: 0,
        success_rate: 1,
        avg_delay_ms: null,
        upload: 5,
        download: 10,
      },
    ]);
    expect(new Date(body.period.to).getTime() - new Date(body.period.from).getTime()).toBeGreaterThanOrEqual(
      23 * 3_600_000,
    );
  });

  it('pages each of its four lists separately', async () => {
    api.kernel.open = [aConnection({ id: '1' }), aConnection({ id: '2', host: 'other.example', nodeTag: 'n8' })];
    api.kernel.emit({
      closed: ['a', 'b', 'c'].map((host) => aRecord({ host, endedAt: Date.now() })),
      traffic: [
        aDelta({
          at: Date.now(),
          outbounds: {
            n7: { upload: 9, download: 0, opened: 1, failed: 0 },
            n8: { upload: 1, download: 0, opened: 1, failed: 0 },
          },
        }),
      ],
    });
    await logged(3);
    const { body } = await get(
      '/dashboard?live_domain_limit=1&live_domain_offset=1&live_node_limit=500&live_node_offset=0&period_domain_limit=2&period_domain_offset=1&period_node_limit=1&period_node_offset=1',
    );
    const shape = (page: { items: unknown[]; total: number; limit: number; offset: number }) => [
      page.items.length,
      page.total,
      page.limit,
      page.offset,
    ];
    expect(shape(body.live_domains)).toEqual([1, 2, 1, 1]);
    expect(shape(body.live_nodes)).toEqual([2, 2, 500, 0]);
    expect(shape(body.period_domains)).toEqual([2, 3, 2, 1]);
    expect(shape(body.period_nodes)).toEqual([1, 2, 1, 1]);
    expect(body.period_nodes.items[0].name).toBe('Paris');
  });

  const LISTS = ['live_domain', 'live_node', 'period_domain', 'period_node'];
  it.each(
    LISTS.flatMap((name) => [
      [`${name}_limit`, '0'],
      [`${name}_limit`, '501'],
      [`${name}_limit`, 'many'],
      [`${name}_offset`, '-1'],
      [`${name}_offset`, '1.5'],
    ]),
  )('names %s when it is %s', async (name, value) => {
    const answer = await get(`/dashboard?${name}=${value}`);
    expect(answer.status).toBe(400);
    expect(answer.body.details).toEqual([
      { field: name, message: expect.any(String) },
      ...answer.body.details.slice(1),
    ]);
  });

  it('counts nodes by their last measurement', async () => {
    await api.dataSource.query(
      `INSERT INTO node_health (node_id, test_url, alive, delay_ms, last_tested_at)
       VALUES (7, '', true, 80, now()), (8, '', false, NULL, now()), (8, 'http://own.example/', true, 5, now())`,
    );
    api.kernel.applied = { leftOut: [{}, {}] } as never;
    const { body } = await get('/dashboard');
    expect(body.nodes).toMatchObject({ total: 2, alive: 1, dead: 1, untested: 0, unsupported: 2 });
    await api.dataSource.query('DELETE FROM node_health');
    api.kernel.applied = null;
  });

  it('uses the requested period', async () => {
    await api.dataSource.query(
      `INSERT INTO traffic_node_hourly (hour, outbound, node_id, requests, errors, upload, download, last_seen_at)
       SELECT hour::timestamptz, 'n7', 7, 1, 0, 10, 1, hour::timestamptz
       FROM unnest(ARRAY['2026-03-01T09:00Z', '2026-03-01T10:00Z', '2026-03-01T12:00Z', '2026-03-01T13:00Z']) hour`,
    );
    const { status, body } = await get('/dashboard?from=2026-03-01T10:40:00Z&to=2026-03-01T14:30:00%2B02:00');
    expect(status).toBe(200);
    expect(body.period).toEqual({ from: '2026-03-01T10:00:00.000Z', to: '2026-03-01T12:30:00.000Z' });
    expect(body.traffic.series.map(({ up }: { up: number }) => up)).toEqual([10, 0, 10]);
    expect(body.period_nodes.items).toMatchObject([{ node_id: 7, requests: 2 }]);
    for (const query of [
      'from=yesterday',
      'from=2026-03-01',
      'from=2026-02-30T00:00:00Z',
      'from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z',
      'from=2025-03-02T00:00:00Z&to=2026-03-01T00:00:00Z',
      'to=',
    ]) {
      const refused = await get(`/dashboard?${query}`);
      expect([refused.status, refused.body.details?.[0].field], query).toEqual([400, query.split('=')[0]]);
    }
  });

  it('answers while the kernel is down', async () => {
    api.kernel.down = true;
    const { status, body } = await get('/dashboard');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      connections: { active: 0 },
      kernel: { state: 'degraded', uptime_sec: null, memory_bytes: null },
      live_domains: { items: [], total: 0 },
    });
  });
});
