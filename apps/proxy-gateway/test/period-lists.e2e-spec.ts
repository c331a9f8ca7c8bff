import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastDay, PeriodLists } from '../src/dashboard/period-lists.js';
import { AccountingBatch } from '../src/traffic/accounting-batch.js';
import { writeBatch } from '../src/traffic/accounting-store.js';
import { flowNames } from '../src/data/flow-names.js';
import { TrafficTotalsService } from '../src/traffic/traffic-totals.service.js';
import { aDelta, aRecord, NOON } from './support/flows.js';
import { openServiceDatabase } from './support/service-database.js';
import type { ServiceDatabase } from './support/service-database.js';

const HOUR = 3_600_000;
const period = lastDay(NOON + 30 * 60_000);

describe('period lists', () => {
  let database: ServiceDatabase;
  let lists: PeriodLists;

  beforeAll(async () => {
    database = await openServiceDatabase();
    lists = new PeriodLists(database.dataSource);
    const batch = new AccountingBatch();
    const flows = [
      { host: 'big.example', download: 9_000, endedAt: NOON },
      { host: 'big.example', download: 9_000, endedAt: NOON - 23 * HOUR },
      { host: 'old.example', download: 1, endedAt: NOON - 24 * HOUR },
      { host: 'small.example', download: 5, status: 'failed' as const, endedAt: NOON - HOUR },
      { host: 'mid.example', download: 50, endedAt: NOON },
    ];
    for (const flow of flows) batch.addRecord(aRecord(flow), false);
    const moved = { upload: 1, download: 10, opened: 2, failed: 1 };
    batch.addDelta(aDelta({ at: NOON, outbounds: { n7: moved, DIRECT: { ...moved, download: 100 } } }));
    batch.addDelta(aDelta({ at: NOON - 3 * HOUR, outbounds: { n7: moved } }));
    batch.addDelta(aDelta({ at: NOON - 30 * HOUR, outbounds: { n7: moved } }));
    await database.unitOfWork.run((tx) =>
      writeBatch(tx, { writerId: randomUUID(), sequence: 1 }, batch, flowNames(new Map())),
    );
  });
  afterAll(() => database.close());

  it('begins 23 hours before the current hour', () => {
    expect(period).toEqual({ from: new Date(NOON - 23 * HOUR), to: new Date(NOON + HOUR / 2) });
  });

  it('sums domains over the period, the most bytes first', async () => {
    expect(await lists.domains(period, { limit: 2, offset: 0 })).toEqual({
      items: [
        {
          domain: 'big.example',
          requests: 2,
          errors: 0,
          upload: 200,
          download: 18_000,
          last_seen_at: new Date(NOON).toISOString(),
        },
        {
          domain: 'mid.example',
          requests: 1,
          errors: 0,
          upload: 100,
          download: 50,
          last_seen_at: new Date(NOON).toISOString(),
        },
      ],
      total: 3,
      limit: 2,
      offset: 0,
    });
  });

  it('pages, and keeps the total past the end', async () => {
    const second = await lists.domains(period, { limit: 2, offset: 2 });
    expect(second.items.map((item) => item.domain)).toEqual(['small.example']);
    expect(await lists.domains(period, { limit: 2, offset: 90 })).toEqual({
      items: [],
      total: 3,
      limit: 2,
      offset: 90,
    });
  });

  it('sums nodes and built-ins', async () => {
    expect(await lists.nodes(period, { limit: 50, offset: 0 })).toEqual({
      items: [
        { tag: 'DIRECT', node_id: null, requests: 2, errors: 1, upload: 1, download: 100 },
        { tag: 'n7', node_id: 7, requests: 4, errors: 2, upload: 2, download: 20 },
      ],
      total: 2,
      limit: 50,
      offset: 0,
    });
  });

  it('has a point for each hour', async () => {
    const series = await lists.series(period);
    expect(series).toHaveLength(24);
    expect(series.at(-1)).toEqual({ t: new Date(NOON).toISOString(), up: 2, down: 110 });
    expect(series.at(-4)).toEqual({ t: new Date(NOON - 3 * HOUR).toISOString(), up: 1, down: 10 });
    expect(series[0]).toEqual({ t: period.from.toISOString(), up: 0, down: 0 });
  });

  it('adds up everything ever carried', async () => {
    const totals = new TrafficTotalsService(database.dataSource);
    expect(await totals.all()).toEqual({ upload: 4, download: 130, opened: 8, failed: 4 });
  });
});
