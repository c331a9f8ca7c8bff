import { randomUUID } from 'node:crypto';
import { createDataSource, migrate, UnitOfWork, withClient } from '@gatehouse/persistence';
import type { ConnectionRecord, TrafficDelta } from '@gatehouse/proxy-kernel';
import { createTestDatabase } from '@gatehouse/testing';
import type { TestDatabase } from '@gatehouse/testing';
import fc from 'fast-check';
import type { DataSource, EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CreateOutbound1763668800120 } from '../src/migrations/1763668800120-create-outbound.js';
import { CreateRules1763668800210 } from '../src/migrations/1763668800210-create-rules.js';
import { CreateTraffic1763668800220 } from '../src/migrations/1763668800220-create-traffic.js';
import { ExtendOutboundGroups1763668800320 } from '../src/migrations/1763668800320-extend-outbound-groups.js';
import { CreateTrafficLogSections1763668800350 } from '../src/migrations/1763668800350-create-traffic-log-sections.js';
import { CreateAccountingSpools1763668800750 } from '../src/migrations/1763668800750-create-accounting-spools.js';
import { CreateKernels1763668800780 } from '../src/migrations/1763668800780-create-kernels.js';
import { AccountingBatch, OTHER_DOMAINS } from '../src/traffic/accounting-batch.js';
import { writeBatch } from '../src/traffic/accounting-store.js';
import { flowNames } from '../src/data/flow-names.js';
import { createPartitions, daysOf, dropPartitionsBefore } from '../src/traffic/log-partitions.js';
import { aDelta, aRecord, NOON } from './support/flows.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const card = {
  id: 7,
  name: 'Tokyo 01',
  type: 'ss',
  country: 'JP',
  alive: null,
  delayMs: null,
  exitIp: null,
  subscriptionName: null,
};
const names = flowNames(new Map([[7, card]]));
const TABLES = [
  'traffic_logs',
  'traffic_log_days',
  'traffic_log_sections',
  'traffic_domain_hourly',
  'traffic_node_hourly',
  'traffic_totals',
  'rules',
];

describe('accounting store', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let unitOfWork: UnitOfWork;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = createDataSource({
      url: database.url,
      schema: 'proxy_gateway',
      entities: [],
      migrations: [
        CreateOutbound1763668800120,
        CreateRules1763668800210,
        CreateTraffic1763668800220,
        ExtendOutboundGroups1763668800320,
        CreateTrafficLogSections1763668800350,
        CreateAccountingSpools1763668800750,
        CreateKernels1763668800780,
      ],
      applicationName: 'accounting-spec',
    });
    await migrate(dataSource);
    await dataSource.initialize();
    unitOfWork = new UnitOfWork(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(async () => {
    await dataSource.query(`TRUNCATE ${TABLES.join(', ')} RESTART IDENTITY`);
  });

  async function write(batch: AccountingBatch, id = { writerId: randomUUID(), sequence: 1 }): Promise<boolean> {
    await unitOfWork.run((tx) => createPartitions(tx, daysOf(batch.logs.map((record) => record.endedAt))));
    return unitOfWork.run((tx: EntityManager) => writeBatch(tx, id, batch, names));
  }

  function batchOf(records: ConnectionRecord[], deltas: TrafficDelta[] = []): AccountingBatch {
    const batch = new AccountingBatch();
    for (const record of records) batch.addRecord(record, true);
    for (const delta of deltas) batch.addDelta(delta);
    return batch;
  }

  const rowsOf = (sql: string): Promise<Record<string, unknown>[]> => dataSource.query(sql);

  it('writes every column of a log row', async () => {
    await write(
      batchOf([
        aRecord({
          inboundUser: 'ann',
          httpMethod: 'GET',
          httpUrl: 'http://example.com/a',
          status: 'failed',
          httpStatus: 502,
          errorStage: 'dial',
          errorKind: 'timeout',
          errorErrno: 'ETIMEDOUT',
          errorMessage: 'took\0 too long',
        }),
      ]),
    );
    expect(await rowsOf('SELECT * FROM traffic_logs')).toEqual([
      {
        id: 1,
        started_at: new Date(NOON),
        ended_at: new Date(NOON + 1_500),
        client_ip: '192.168.1.20',
        client_port: 50_000,
        inbound: 'mixed',
        inbound_user: 'ann',
        network: 'tcp',
        method: 'GET',
        host: 'example.com',
        target_port: 443,
        destination_ip: null,
        url: 'http://example.com/a',
        rule_id: 1,
        rule_type: 'DOMAIN-SUFFIX',
        rule_payload: 'example.com',
        chains: ['PROXY', 'Tokyo 01'],
        node_id: 7,
        node_name: 'Tokyo 01',
        node_country: 'JP',
        exit_ip: null,
        upload: 100,
        download: 2_000,
        status: 'failed',
        http_status: 502,
        error_stage: 'dial',
        error_kind: 'timeout',
        error_errno: 'ETIMEDOUT',
        error_message: 'took too long',
        close_reason: 'client_closed',
        kernel: null,
        search_text: 'example.com\ntokyo 01\ndomain-suffix,example.com\n192.168.1.20\nann',
      },
    ]);
  });

  it('keeps the id of a node whose row is gone', async () => {
    await write(batchOf([aRecord({ chain: ['PROXY', 'n99'], nodeTag: 'n99' })]));
    expect(await rowsOf('SELECT node_id, node_name, chains FROM traffic_logs')).toEqual([
      { node_id: 99, node_name: null, chains: ['PROXY', 'n99'] },
    ]);
  });

  it('adds to the buckets that are there already', async () => {
    const delta = aDelta({
      at: NOON,
      outbounds: {
        n7: { upload: 5, download: 6, opened: 1, failed: 0 },
        DIRECT: { upload: 1, download: 1, opened: 1, failed: 1 },
      },
    });
    await write(batchOf([aRecord()], [delta]));
    await write(batchOf([aRecord({ endedAt: NOON + 2_000, status: 'failed' })], [{ ...delta, at: NOON + 1_000 }]));
    expect(await rowsOf('SELECT * FROM traffic_domain_hourly')).toEqual([
      {
        hour: new Date(NOON),
        domain: 'example.com',
        requests: 2,
        errors: 1,
        upload: 200,
        download: 4_000,
        last_seen_at: new Date(NOON + 2_000),
      },
    ]);
    expect(
      await rowsOf('SELECT outbound, node_id, requests, errors, upload, download FROM traffic_node_hourly ORDER BY 1'),
    ).toEqual([
      { outbound: 'DIRECT', node_id: null, requests: 2, errors: 2, upload: 2, download: 2 },
      { outbound: 'n7', node_id: 7, requests: 2, errors: 0, upload: 10, download: 12 },
    ]);
    expect(
      await rowsOf('SELECT outbound, node_id, requests, errors, upload, download FROM traffic_totals ORDER BY 1'),
    ).toEqual([
      { outbound: 'DIRECT', node_id: null, requests: 2, errors: 2, upload: 2, download: 2 },
      { outbound: 'n7', node_id: 7, requests: 2, errors: 0, upload: 10, download: 12 },
    ]);
    expect(await rowsOf('SELECT row_count FROM traffic_log_days')).toEqual([{ row_count: 2 }]);
  });

  it('counts the hits of rules that exist and leaves their updated_at', async () => {
    await dataSource.query(
      `INSERT INTO rules (type, payload, target, priority, updated_at) VALUES ('MATCH', '', 'DIRECT', 1, '2026-01-01Z')`,
    );
    const hit = (hits: number, lastHitAt: number): TrafficDelta =>
      aDelta({ rules: { 1: { hits, lastHitAt }, 404: { hits: 1, lastHitAt } } });
    await write(batchOf([], [hit(2, NOON + 5), hit(1, NOON + 3)]));
    await write(batchOf([], [hit(4, NOON + 1)]));
    expect(await rowsOf('SELECT hit_count, hit_at, updated_at FROM rules')).toEqual([
      { hit_count: 7, hit_at: new Date(NOON + 5), updated_at: new Date('2026-01-01T00:00:00Z') },
    ]);
  });

  it('applies a batch once, however often it is sent', async () => {
    const writer = { writerId: randomUUID(), sequence: 1 };
    expect(await write(batchOf([aRecord()]), writer)).toBe(true);
    expect(await write(batchOf([aRecord()]), writer)).toBe(false);
    expect(await write(batchOf([aRecord()]), { ...writer, sequence: 2 })).toBe(true);
    expect(await write(batchOf([aRecord()]))).toBe(true);
    expect(await rowsOf('SELECT count(*)::int AS rows FROM traffic_logs')).toEqual([{ rows: 3 }]);
  });

  it('rolls back a batch that fails half-way', async () => {
    const batch = batchOf(
      [aRecord()],
      [aDelta({ outbounds: { n7: { upload: Number.NaN, download: 0, opened: 0, failed: 0 } } })],
    );
    await expect(write(batch)).rejects.toThrow(/bigint/);
    for (const table of ['traffic_logs', 'traffic_log_days', 'traffic_domain_hourly', 'traffic_totals']) {
      expect(await rowsOf(`SELECT * FROM ${table}`), table).toEqual([]);
    }
  });

  it('writes more rows than fit into one statement', async () => {
    const records = Array.from({ length: 12_001 }, (_, index) => aRecord({ id: String(index), endedAt: NOON + index }));
    await write(batchOf(records));
    expect(await rowsOf('SELECT count(*)::int AS rows, sum(upload)::int AS upload FROM traffic_logs')).toEqual([
      { rows: 12_001, upload: 1_200_100 },
    ]);
  });

  it('folds domains past the limit into one and drops no bytes', async () => {
    const batch = new AccountingBatch({ logRows: 1, domains: 2 });
    for (const host of ['a', 'b', 'c', 'd', 'a']) batch.addRecord(aRecord({ host, upload: 1 }), true);
    await write(batch);
    expect(batch.droppedLogs).toBe(4);
    expect(await rowsOf('SELECT domain, upload FROM traffic_domain_hourly ORDER BY domain')).toEqual([
      { domain: OTHER_DOMAINS, upload: 2 },
      { domain: 'a', upload: 2 },
      { domain: 'b', upload: 1 },
    ]);
  });

  it('creates a partition and writes rows during a long read, such as a backup at midnight', async () => {
    await write(batchOf([aRecord()]));
    await withClient(database.url, async (reader) => {
      await reader.query(
        'BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE proxy_gateway.traffic_logs IN ACCESS SHARE MODE',
      );
      await write(batchOf([aRecord({ endedAt: NOON + DAY })]));
      expect(await rowsOf('SELECT count(*)::int AS rows FROM traffic_logs')).toEqual([{ rows: 2 }]);
      // With an exclusive lock on the table this must give up, rather than make the writers wait.
      await reader.query('LOCK TABLE proxy_gateway.traffic_logs IN ACCESS EXCLUSIVE MODE');
      await expect(unitOfWork.run((tx) => createPartitions(tx, [NOON + 5 * DAY]))).rejects.toThrow('lock timeout');
    });
  });

  it('drops whole days and their counts, and no others', async () => {
    const at = (days: number): ConnectionRecord => aRecord({ endedAt: NOON - days * DAY });
    await write(batchOf([at(0), at(1), at(2), at(2), at(9)]));
    const dropped = await unitOfWork.run((tx) => dropPartitionsBefore(tx, NOON - DAY));
    expect(dropped.sort()).toEqual(['traffic_logs_20260508', 'traffic_logs_20260515']);
    expect(await rowsOf('SELECT count(*)::int AS sections FROM traffic_log_sections')).toEqual([{ sections: 2 }]);
    expect(await rowsOf('SELECT count(*)::int AS rows FROM traffic_logs')).toEqual([{ rows: 2 }]);
    expect(await rowsOf('SELECT sum(row_count)::int AS rows FROM traffic_log_days')).toEqual([{ rows: 2 }]);
  });

  it('agrees in logs, domains, nodes and totals once every flow is closed', async () => {
    const outbounds = ['n1', 'n2', 'DIRECT'] as const;
    const flow = fc.record({
      outbound: fc.constantFrom(...outbounds),
      host: fc.constantFrom('a.example', 'b.example', null),
      startedAt: fc.integer({ min: NOON - 2 * HOUR, max: NOON }),
      failed: fc.boolean(),
      /** The bytes of each second of the flow; a short flow has none or one. */
      seconds: fc.array(fc.record({ upload: fc.nat(10_000), download: fc.nat(1_000_000) }), { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(flow, { maxLength: 25 }), fc.integer({ min: 1, max: 10 }), async (flows, perBatch) => {
        await dataSource.query(`TRUNCATE ${TABLES.join(', ')}`);
        const writer = randomUUID();
        const events = flows.flatMap((each) => eventsOf(each));
        for (let start = 0, sequence = 1; start < events.length; start += perBatch, sequence++) {
          const batch = new AccountingBatch();
          for (const event of events.slice(start, start + perBatch)) event(batch);
          await write(batch, { writerId: writer, sequence });
          // A repetition after a lost answer.
          if (sequence % 3 === 0) await write(batch, { writerId: writer, sequence });
        }
        const expected = {
          requests: flows.length,
          errors: flows.filter((each) => each.failed).length,
          upload: flows.flatMap((each) => each.seconds).reduce((sum, second) => sum + second.upload, 0),
          download: flows.flatMap((each) => each.seconds).reduce((sum, second) => sum + second.download, 0),
        };
        for (const table of ['traffic_domain_hourly', 'traffic_node_hourly', 'traffic_totals']) {
          expect(await sums(table, 'sum(requests)', 'sum(errors)'), table).toEqual(expected);
        }
        expect(await sums('traffic_logs', 'count(*)', `count(*) FILTER (WHERE status = 'failed')`)).toEqual(expected);
        const [counted] = await rowsOf('SELECT coalesce(sum(row_count), 0)::int AS rows FROM traffic_log_days');
        expect(counted).toEqual({ rows: flows.length });
      }),
      { numRuns: 25 },
    );

    function eventsOf(each: {
      outbound: string;
      host: string | null;
      startedAt: number;
      failed: boolean;
      seconds: { upload: number; download: number }[];
    }) {
      const endedAt = each.startedAt + each.seconds.length * 1_000;
      const deltas = each.seconds.map(
        (second, index) => (batch: AccountingBatch) =>
          batch.addDelta(
            aDelta({
              at: each.startedAt + index * 1_000,
              outbounds: { [each.outbound]: { ...second, opened: 0, failed: 0 } },
            }),
          ),
      );
      const opened = (batch: AccountingBatch): void =>
        batch.addDelta(
          aDelta({
            at: each.startedAt,
            outbounds: { [each.outbound]: { upload: 0, download: 0, opened: 1, failed: Number(each.failed) } },
          }),
        );
      const closed = (batch: AccountingBatch): void =>
        batch.addRecord(
          aRecord({
            host: each.host,
            destinationIp: each.host === null ? '203.0.113.5' : null,
            chain: [each.outbound],
            nodeTag: each.outbound.startsWith('n') ? each.outbound : null,
            startedAt: each.startedAt,
            endedAt,
            status: each.failed ? 'failed' : 'ok',
            upload: each.seconds.reduce((sum, second) => sum + second.upload, 0),
            download: each.seconds.reduce((sum, second) => sum + second.download, 0),
          }),
          true,
        );
      return [opened, ...deltas, closed];
    }

    async function sums(table: string, requests: string, errors: string): Promise<unknown> {
      const [row] =
        await rowsOf(`SELECT coalesce(${requests}, 0)::int AS requests, coalesce(${errors}, 0)::int AS errors,
        coalesce(sum(upload), 0)::float8 AS upload, coalesce(sum(download), 0)::float8 AS download FROM ${table}`);
      return row;
    }
  });
});
