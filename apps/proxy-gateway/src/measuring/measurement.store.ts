import { notify, UnitOfWork } from '@gatehouse/persistence';
import type { ProbeResult } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { NODE_HEALTH_CHANNEL } from './health-channel.js';
import type { HealthNotice } from './health-channel.js';

export interface Measurement {
  nodeId: number;
  result: ProbeResult;
}

export interface MeasuredWith {
  /** Empty: the general test address. */
  testUrl: string;
  /** Null for a single test. */
  jobId: string | null;
}

/** A notification holds at most 8000 bytes, including the test address. */
const IDS_PER_NOTICE = 250;
const HISTORY = 10;
const MAX_MESSAGE = 500;

/**
 * Nodes that were deleted during the measurement are skipped; the others are locked, so that they cannot be deleted
 * meanwhile. A result that is older than the stored one is skipped as well.
 */
const RECORD = `
  INSERT INTO node_health AS health (node_id, test_url, alive, delay_ms, http_status, last_tested_at, error_code,
    error_message, failure_count, tests, successes, delay_history, job_id)
  SELECT entry.node_id, $1, entry.alive, entry.delay_ms, entry.http_status, entry.tested_at, entry.error_code,
    entry.error_message, (NOT entry.alive)::integer, 1, entry.alive::integer, jsonb_build_array(entry.history), $2
  FROM (
    SELECT entry.* FROM unnest($3::bigint[], $4::boolean[], $5::integer[], $6::integer[], $7::timestamptz[], $8::text[],
      $9::text[], $10::jsonb[])
      AS entry (node_id, alive, delay_ms, http_status, tested_at, error_code, error_message, history)
    JOIN nodes ON nodes.id = entry.node_id
    ORDER BY entry.node_id FOR KEY SHARE OF nodes
  ) entry
  ON CONFLICT (node_id, test_url) DO UPDATE SET
    alive = excluded.alive, delay_ms = excluded.delay_ms, http_status = excluded.http_status,
    last_tested_at = excluded.last_tested_at, error_code = excluded.error_code, error_message = excluded.error_message,
    failure_count = CASE WHEN excluded.alive THEN 0 ELSE health.failure_count + 1 END,
    tests = health.tests + 1, successes = health.successes + excluded.successes,
    delay_history = CASE WHEN jsonb_array_length(health.delay_history) >= ${HISTORY}
      THEN health.delay_history - 0 ELSE health.delay_history END || excluded.delay_history,
    job_id = excluded.job_id
  WHERE excluded.last_tested_at >= health.last_tested_at`;

/** Stores measurements and notifies the kernels. */
@Injectable()
export class MeasurementStore {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly dataSource: DataSource,
  ) {}

  /** Nodes measured with this address within the last `seconds`. */
  async fresh(testUrl: string, seconds: number): Promise<Set<number>> {
    const rows: { node_id: number }[] = await this.dataSource.query(
      'SELECT node_id FROM node_health WHERE test_url = $1 AND last_tested_at > now() - make_interval(secs => $2)',
      [testUrl, seconds],
    );
    return new Set(rows.map(({ node_id }) => node_id));
  }

  /** Deletes measurements with addresses that no group uses any longer. */
  async keepOnly(testUrls: readonly string[]): Promise<void> {
    await this.dataSource.query(`DELETE FROM node_health WHERE test_url <> '' AND test_url <> ALL($1::text[])`, [
      testUrls,
    ]);
  }

  /** @param measurements at most one for each node. */
  async record(measurements: readonly Measurement[], { testUrl, jobId }: MeasuredWith): Promise<void> {
    if (measurements.length === 0) return;
    await this.unitOfWork.run(async (tx) => {
      await tx.query(RECORD, [testUrl, jobId, ...columnsOf(measurements)]);
      await announce(
        tx,
        testUrl,
        measurements.map(({ nodeId }) => nodeId),
      );
    });
  }
}

function columnsOf(measurements: readonly Measurement[]): unknown[][] {
  const results = measurements.map(({ result }) => result);
  const times = results.map(({ testedAt }) => new Date(testedAt).toISOString());
  const delays = results.map(({ delayMs }) => (delayMs === null ? null : Math.round(delayMs)));
  return [
    measurements.map(({ nodeId }) => nodeId),
    results.map(({ ok }) => ok),
    delays,
    results.map(({ httpStatus }) => httpStatus),
    times,
    results.map(({ error }) => error?.code ?? null),
    results.map(({ error }) => error?.message.replaceAll('\0', '').slice(0, MAX_MESSAGE) ?? null),
    results.map((_, index) => JSON.stringify({ time: times[index], delay_ms: delays[index] })),
  ];
}

async function announce(tx: EntityManager, url: string, ids: readonly number[]): Promise<void> {
  for (let start = 0; start < ids.length; start += IDS_PER_NOTICE) {
    const notice: HealthNotice = { url, ids: ids.slice(start, start + IDS_PER_NOTICE) };
    await notify(tx, NODE_HEALTH_CHANNEL, JSON.stringify(notice));
  }
}
