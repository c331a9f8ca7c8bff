import { randomUUID } from 'node:crypto';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { AppError } from '@gatehouse/platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountingBatch } from '../src/traffic/accounting-batch.js';
import { writeBatch } from '../src/traffic/accounting-store.js';
import { flowNames } from '../src/data/flow-names.js';
import { describeSections } from '../src/traffic/describe-sections.js';
import { createPartitions, daysOf } from '../src/traffic/log-partitions.js';
import { filterHolds, gramsOfKeyword } from '../src/traffic/search-grams.js';
import { TrafficLogQuery } from '../src/traffic/traffic-log.dto.js';
import { COUNT_LIMIT, KeywordSearch, SearchTimeoutError } from '../src/traffic/keyword-search.js';
import { TrafficLogsService } from '../src/traffic/traffic-logs.service.js';
import { aRecord, NOON } from './support/flows.js';
import { openServiceDatabase } from './support/service-database.js';
import type { ServiceDatabase } from './support/service-database.js';

const DAY = 86_400_000;

describe('traffic logs', () => {
  let database: ServiceDatabase;
  let service: TrafficLogsService;

  beforeAll(async () => {
    database = await openServiceDatabase();
    service = new TrafficLogsService(database.unitOfWork);
  });
  afterAll(() => database.close());
  beforeEach(() => database.dataSource.query('TRUNCATE traffic_logs, traffic_log_days, traffic_log_sections'));

  async function store(...overrides: Parameters<typeof aRecord>[0][]): Promise<void> {
    const batch = new AccountingBatch();
    for (const override of overrides) batch.addRecord(aRecord(override), true);
    const card = {
      id: 7,
      name: 'Tokyo_01',
      type: 'ss',
      country: 'JP',
      alive: null,
      delayMs: null,
      exitIp: null,
      subscriptionName: null,
    };
    await database.unitOfWork.run((tx) => createPartitions(tx, daysOf(batch.logs.map((record) => record.endedAt))));
    await database.unitOfWork.run((tx) =>
      writeBatch(tx, { writerId: randomUUID(), sequence: 1 }, batch, flowNames(new Map([[7, card]]))),
    );
  }

  const query = (values: Partial<TrafficLogQuery> = {}): TrafficLogQuery =>
    Object.assign(new TrafficLogQuery(), values);
  const hosts = async (values: Partial<TrafficLogQuery>) =>
    (await service.list(query(values))).items.map((item) => item.host);

  it('shows every field, null if unknown', async () => {
    await store({});
    expect(await service.list(query())).toEqual({
      items: [
        {
          id: expect.any(Number),
          started_at: '2026-05-17T12:00:00.000Z',
          ended_at: '2026-05-17T12:00:01.500Z',
          duration_ms: 1_500,
          client_ip: '192.168.1.20',
          client_port: 50_000,
          inbound: 'mixed',
          inbound_user: null,
          network: 'tcp',
          method: null,
          host: 'example.com',
          target_port: 443,
          destination_ip: null,
          url: null,
          rule_id: 1,
          rule_type: 'DOMAIN-SUFFIX',
          rule_payload: 'example.com',
          chains: ['PROXY', 'Tokyo_01'],
          node_id: 7,
          node_name: 'Tokyo_01',
          node_country: 'JP',
          exit_ip: null,
          upload: 100,
          download: 2_000,
          status: 'ok',
          http_status: null,
          error_stage: null,
          error_kind: null,
          error_errno: null,
          error_message: null,
          close_reason: 'client_closed',
          kernel: null,
        },
      ],
      total: 1,
      total_exact: true,
      limit: 50,
      offset: 0,
      next_cursor: null,
    });
  });

  it('is empty before anything happened', async () => {
    expect(await service.list(query())).toMatchObject({ items: [], total: 0, next_cursor: null });
    expect(await service.list(query({ keyword: 'x' }))).toMatchObject({ items: [], total: 0, total_exact: true });
  });

  it('goes from the newest to the oldest over days, by offset or cursor', async () => {
    const all = Array.from({ length: 25 }, (_, index) => ({
      host: `h${index}`,
      endedAt: NOON - Math.floor(index / 2) * DAY,
    }));
    await store(...all.toReversed());
    const expected = all.map(({ host }) => host);
    const byOffset: (string | null)[] = [];
    for (let offset = 0; offset < 30; offset += 7) byOffset.push(...(await hosts({ limit: 7, offset })));
    expect(byOffset).toEqual(expected);
    const byCursor: (string | null)[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await service.list(query({ limit: 7, ...(cursor !== undefined && { cursor }) }));
      byCursor.push(...page.items.map((item) => item.host));
      expect(page.total).toBe(25);
      cursor = page.next_cursor;
    }
    expect(byCursor).toEqual(expected);
  });

  it.each([
    ['WWW.example', ['www.Example.com']],
    ['203.0.113.9', [null]],
    ['tokyo_01', ['100%.test', 'www.Example.com', null]],
    ['tokyo%01', []],
    ['192.168.7.7', ['100%.test']],
    ['domain-suffix,example', ['100%.test', 'www.Example.com', null]],
    ['0%.', ['100%.test']],
    ['ann-b', ['100%.test']],
    ['7ann', []],
    ['_', ['100%.test', 'www.Example.com', null]],
    [String.raw`\\`, []],
  ])('finds %j', async (keyword, expected) => {
    await store(
      { host: null, destinationIp: '203.0.113.9', endedAt: NOON },
      { host: 'www.Example.com', endedAt: NOON + 1 },
      { host: '100%.test', sourceIp: '192.168.7.7', inboundUser: 'Ann-B', endedAt: NOON + 2 },
    );
    expect(await hosts({ keyword })).toEqual(expected);
    expect(await service.list(query({ keyword }))).toMatchObject({ total: expected.length, total_exact: true });
  });

  it('counts matches of a keyword up to a limit and reports that', async () => {
    await store(...Array.from({ length: COUNT_LIMIT + 5 }, () => ({ host: 'many.example' })));
    expect(await service.list(query({ keyword: 'many', limit: 1 }))).toMatchObject({
      total: COUNT_LIMIT,
      total_exact: false,
    });
    expect(await service.list(query({ limit: 1 }))).toMatchObject({ total: COUNT_LIMIT + 5, total_exact: true });
  });

  describe('of many sections', () => {
    const sections = (): Promise<{ described: number; open: number }[]> =>
      database.dataSource.query(
        'SELECT count(grams)::int AS described, (count(*) - count(grams))::int AS open FROM traffic_log_sections',
      );
    /** Three days, the first two with thousands of rows; each host name contains its number of rows. */
    const rows = Array.from({ length: 5_200 }, (_, index) => ({
      host: [2_345, 4_100].includes(index)
        ? 'twice.example'
        : index === 3_777
          ? '香港.example'
          : `h${index % 400}.example`,
      sourceIp: `192.168.${Math.floor(index / 1_000)}.1`,
      endedAt: NOON - Math.floor(index / 2_500) * DAY - Math.floor((index % 2_500) / 3),
    }));
    let stored: typeof rows = [];
    const expected = (keyword: string): string[] =>
      stored.filter(({ host, sourceIp }) => `${host}\n${sourceIp}`.includes(keyword)).map(({ host }) => host);
    const keywords = ['twice', '香港', '港', 'h399.', 'nowhere.example', 'example', '192.168.5.', 'zz', 'e.example'];

    async function allPages(keyword: string, limit: number, by: 'cursor' | 'offset'): Promise<(string | null)[]> {
      const found: (string | null)[] = [];
      for (let cursor: string | undefined, offset = 0; ; offset += limit) {
        const at = by === 'offset' ? { offset } : cursor !== undefined && { cursor };
        const page = await service.list(query({ keyword, limit, ...at }));
        found.push(...page.items.map(({ host }) => host));
        expect(page).toMatchObject({ total: expected(keyword).length, total_exact: true });
        if (page.next_cursor === null) return found;
        cursor = page.next_cursor;
      }
    }

    async function findsEverything(): Promise<void> {
      for (const keyword of keywords) {
        expect(await allPages(keyword, 500, 'cursor'), keyword).toEqual(expected(keyword));
        expect(await allPages(keyword, 500, 'offset'), keyword).toEqual(expected(keyword));
      }
    }

    it('finds the same by sections as by reading every row, before and after describing open ones', async () => {
      // Out of order, so that the sections of several batches overlap.
      for (const part of [0, 1])
        await store(...rows.filter((_, index) => Math.floor(index / 700) % 2 === part).toReversed());
      const [before] = await sections();
      expect(before?.described).toBeGreaterThan(0);
      expect(before?.open).toBeGreaterThan(0);
      stored = await storedRows();
      await findsEverything();
      await describeSections(database.unitOfWork);
      expect((await sections())[0]?.open).toBe(0);
      await findsEverything();
    });

    const storedRows = async (): Promise<typeof rows> => {
      const found: { host: string; client_ip: string; ended_at: Date }[] = await database.dataSource.query(
        'SELECT host, client_ip, ended_at FROM traffic_logs ORDER BY ended_at DESC, id DESC',
      );
      return found.map((row) => ({ host: row.host, sourceIp: row.client_ip, endedAt: row.ended_at.getTime() }));
    };

    it('describes rows from before there were sections', async () => {
      await store(...rows);
      await database.dataSource.query('TRUNCATE traffic_log_sections');
      await database.dataSource.query(
        `INSERT INTO traffic_log_sections (id, first_at, last_at, row_count)
         SELECT gen_random_uuid(), min(ended_at), max(ended_at), count(*) FROM traffic_logs`,
      );
      expect(await describeSections(database.unitOfWork)).toBeGreaterThanOrEqual(rows.length);
      const [after] = await sections();
      expect(after?.open).toBe(0);
      expect(after?.described).toBeGreaterThanOrEqual(3);
      stored = await storedRows();
      await findsEverything();
      expect(await describeSections(database.unitOfWork)).toBe(0);
    });

    it('skips sections that cannot match', async () => {
      await store(...rows.map((row) => ({ ...row, sourceIp: '192.0.2.1' })));
      await describeSections(database.unitOfWork);
      const candidates = async (keyword: string): Promise<number> => {
        const [row]: { count: number }[] = await database.dataSource.query(
          `SELECT count(*)::int AS count FROM traffic_log_sections WHERE ${filterHolds('grams', gramsOfKeyword(keyword))}`,
        );
        return row?.count ?? 0;
      };
      expect(await candidates('nowhere.example')).toBe(0);
      expect(await candidates('twice')).toBe(2);
      expect(await candidates('港')).toBe(1);
      expect(await candidates('example')).toBeGreaterThanOrEqual(3);
    });

    it('skips whole days for an offset', async () => {
      await store(...rows);
      const all = await storedRows();
      for (const offset of [0, 2_499, 2_500, 2_501, 5_000, 5_199, 5_200, 9_999]) {
        const page = await service.list(query({ offset, limit: 3 }));
        expect(page.items.map(({ host }) => host)).toEqual(all.slice(offset, offset + 3).map(({ host }) => host));
        expect(page).toMatchObject({ total: 5_200, total_exact: true });
        expect(page.next_cursor === null).toBe(offset + 3 >= 5_200);
      }
    });
  });

  it('stops a search that exceeds its time', async () => {
    await store({ host: 'late.example' });
    const search = (timeoutMs: number) =>
      database.unitOfWork.run((tx) => new KeywordSearch(tx, 'late', timeoutMs).find(null, 10));
    expect(await search(10_000)).toHaveLength(1);
    await expect(search(0)).rejects.toThrow(SearchTimeoutError);
  });

  it('reads one partition for the first page', async () => {
    await store(...Array.from({ length: 60 }, (_, index) => ({ endedAt: NOON - index * DAY })));
    const plan: { 'QUERY PLAN': string }[] = await database.dataSource.query(
      'EXPLAIN (ANALYZE, COSTS OFF) SELECT id FROM traffic_logs ORDER BY ended_at DESC, id DESC LIMIT 1',
    );
    const touched = plan.filter(
      (line) => /Scan/.test(line['QUERY PLAN']) && !/never executed/.test(line['QUERY PLAN']),
    );
    expect(touched, plan.map((line) => line['QUERY PLAN']).join('\n')).toHaveLength(1);
  });

  it('refuses an offset together with a cursor', async () => {
    await expect(service.list(query({ cursor: '1-1', offset: 1 }))).rejects.toThrow(AppError);
  });

  it.each([
    [{ limit: '501' }, 'limit'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '' }, 'limit'],
    [{ limit: '1e2' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ cursor: 'x' }, 'cursor'],
    [{ cursor: '9999999999999999-1' }, 'cursor'],
    [{ keyword: 'a\0b' }, 'keyword'],
    [{ keyword: 'a\nb' }, 'keyword'],
    [{ keyword: 'a'.repeat(201) }, 'keyword'],
  ])('refuses %j', async (values, field) => {
    const errors = await validate(plainToInstance(TrafficLogQuery, values));
    expect(errors.map((error) => error.property)).toEqual([field]);
  });

  it('uses the defaults of the interface', async () => {
    const empty = plainToInstance(TrafficLogQuery, {});
    expect(await validate(empty)).toEqual([]);
    expect(empty).toMatchObject({ limit: 50, offset: 0 });
    expect(plainToInstance(TrafficLogQuery, { limit: '500', offset: '7' })).toMatchObject({ limit: 500, offset: 7 });
  });
});
