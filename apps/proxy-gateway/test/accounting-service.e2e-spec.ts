import { randomUUID } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Preferences } from '../src/preferences/preferences.service.js';
import { AccountingService } from '../src/traffic/accounting.service.js';
import { partitionName } from '../src/traffic/log-partitions.js';
import { TrafficRetention } from '../src/traffic/traffic-retention.js';
import { UnitOfWork } from '@gatehouse/persistence';
import { aDelta, aRecord } from './support/flows.js';
import { startTestApi } from './support/test-api.js';
import type { TestApi } from './support/test-api.js';

const DAY = 86_400_000;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(() =>
  api.dataSource.query(
    'TRUNCATE traffic_logs, traffic_log_days, traffic_domain_hourly, traffic_node_hourly, traffic_totals, settings',
  ),
);

const one = async (sql: string): Promise<Record<string, unknown>> => (await api.dataSource.query(sql))[0];
const logCount = async (): Promise<unknown> => (await one('SELECT count(*)::int AS rows FROM traffic_logs')).rows;

describe('accounting', () => {
  it('makes partitions ahead when it starts', async () => {
    for (const day of [0, 1, 2]) {
      const name = partitionName(Date.now() + day * DAY);
      expect(await one(`SELECT to_regclass('${name}') AS name`), name).toEqual({ name });
    }
  });

  it('creates the partition of an unexpected day', async () => {
    const endedAt = Date.now() - 400 * DAY;
    api.kernel.emit({ closed: [aRecord({ endedAt })] });
    await waitFor(async () => (await logCount()) === 1);
    expect(await one(`SELECT count(*)::int AS rows FROM ${partitionName(endedAt)}`)).toEqual({ rows: 1 });
  });

  it('counts once when the answer to a commit is lost, and continues when the database is back', async () => {
    const unitOfWork = api.app.app.get(UnitOfWork, { strict: false });
    const run = unitOfWork.run.bind(unitOfWork);
    let failures = 3;
    unitOfWork.run = async (work, options) => {
      const result = await run(work, options);
      if (failures-- > 0) throw new Error('Connection terminated unexpectedly');
      return result;
    };
    try {
      api.kernel.emit({
        closed: [aRecord()],
        traffic: [aDelta({ at: Date.now(), outbounds: { DIRECT: { upload: 5, download: 6, opened: 1, failed: 0 } } })],
      });
      await waitFor(() => failures < 0);
      api.kernel.emit({ closed: [aRecord({ host: 'later.example' })] });
      expect(await api.app.app.get(AccountingService, { strict: false }).flush()).toBe(true);
    } finally {
      unitOfWork.run = run;
    }
    expect(await logCount()).toBe(2);
    expect(await one('SELECT upload, download, requests FROM traffic_totals')).toEqual({
      upload: 5,
      download: 6,
      requests: 1,
    });
    expect(api.app.logs.some(({ message }) => /next try in \d+ ms/.test(message))).toBe(true);
  });

  it('writes repeated records once, and makes the kernel send the rest', async () => {
    const spool = randomUUID();
    const range = (first: number, last: number) => ({ spool, first, last });
    api.kernel.emit({ closed: [aRecord(), aRecord()], source: range(1, 2) });
    await waitFor(() => api.kernel.stored.some((stored) => stored.spool === spool));
    expect(api.kernel.stored).toEqual([range(1, 2)]);
    // A kernel without the acknowledgement sends entry 2 again, together with a new one.
    api.kernel.emit({ closed: [aRecord(), aRecord({ host: 'new.example' })], source: range(2, 3) });
    await waitFor(() => api.kernel.resumed.length === 1);
    expect(api.kernel.resumed).toEqual([{ stored: [range(1, 2)], lost: [range(2, 3)] }]);
    api.kernel.emit({ closed: [aRecord({ host: 'new.example' })], source: range(3, 3) });
    await waitFor(() => api.kernel.stored.length === 2);
    api.kernel.offerUnstored([spool, randomUUID()]);
    await waitFor(() => api.kernel.resumed.length === 2);
    expect(api.kernel.resumed[1]).toEqual({ stored: [range(1, 3)], lost: [] });
    expect(await logCount()).toBe(3);
    expect(await one('SELECT sum(requests)::int AS requests FROM traffic_domain_hourly')).toEqual({ requests: 3 });
  });

  it('reports stored records only when all earlier ones are stored', async () => {
    const spool = randomUUID();
    const range = { spool, first: 1, last: 1 };
    const before = api.kernel.resumed.length;
    api.kernel.emit({ closed: [aRecord()], source: range });
    api.kernel.offerUnstored([spool]);
    await waitFor(() => api.kernel.resumed.length > before);
    expect(api.kernel.resumed.at(-1)).toEqual({ stored: [range], lost: [] });
  });

  it('writes no log rows while they are switched off, but still counts', async () => {
    await api.app.app.get(Preferences).write({ 'traffic_log.enabled': 'false' });
    api.kernel.emit({ closed: [aRecord()] });
    await waitFor(async () => (await one('SELECT count(*)::int AS rows FROM traffic_domain_hourly')).rows === 1);
    expect(await logCount()).toBe(0);
    await api.app.app.get(Preferences).write({ 'traffic_log.enabled': 'true' });
  });
});

describe('retention', () => {
  it('keeps rows as long as the settings say and deletes the rest', async () => {
    const now = Date.now();
    const preferences = api.app.app.get(Preferences);
    await preferences.write({ 'traffic_log.retention_days': '3', 'traffic_stats.retention_days': '10' });
    api.kernel.emit({
      closed: [0, 1, 3, 4, 11].map((days) => aRecord({ host: `d${days}`, endedAt: now - days * DAY })),
    });
    await waitFor(async () => (await logCount()) === 5);
    const report = await new TrafficRetention(api.app.app.get(UnitOfWork, { strict: false }), preferences).sweep(now);
    expect(report.droppedPartitions).toContain(partitionName(now - 4 * DAY));
    expect(report.droppedPartitions).not.toContain(partitionName(now - 3 * DAY));
    const hosts: { host: string }[] = await api.dataSource.query(
      'SELECT host FROM traffic_logs ORDER BY ended_at DESC',
    );
    expect(hosts.map(({ host }) => host)).toEqual(['d0', 'd1', 'd3']);
    expect((await api.call('GET', '/traffic-logs')).body.total).toBe(3);
    const domains: { domain: string }[] = await api.dataSource.query(
      'SELECT domain FROM traffic_domain_hourly ORDER BY hour DESC',
    );
    expect(domains.map(({ domain }) => domain)).toEqual(['d0', 'd1', 'd3', 'd4']);
    // A late record of a dropped day has its partition created again.
    api.kernel.emit({ closed: [aRecord({ endedAt: now - 4 * DAY })] });
    await waitFor(async () => (await logCount()) === 4);
  });
});

describe('preferences', () => {
  it('sets all or none, naming what is invalid', async () => {
    const preferences = api.app.app.get(Preferences);
    const changes = { 'auth.token_ttl_sec': '60', 'health.timeout_ms': 'soon', 'no.such': 'x' };
    await expect(preferences.write(changes)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: [{ field: 'health.timeout_ms' }, { field: 'no.such' }],
    });
    expect(await one('SELECT count(*)::int AS rows FROM settings')).toEqual({ rows: 0 });
    await preferences.write({ 'auth.token_ttl_sec': '60' });
    expect(preferences.get('auth.token_ttl_sec')).toBe(60);
    expect(preferences.texts()['auth.token_ttl_sec']).toBe('60');
  });

  it('follows changes made by another process, and notifies its listeners', async () => {
    const preferences = api.app.app.get(Preferences);
    const seen: number[] = [];
    const stop = preferences.onChange(() => seen.push(preferences.get('health.concurrency')));
    await api.dataSource.query(
      `INSERT INTO settings (key, value) VALUES ('health.concurrency', '7') ON CONFLICT (key) DO UPDATE SET value = '7'`,
    );
    await api.dataSource.query(`SELECT pg_notify('proxy_gateway_settings', '')`);
    await waitFor(() => seen.includes(7));
    stop();
  });
});
