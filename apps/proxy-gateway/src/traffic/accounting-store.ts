import type { AccountingBatch, OutboundBucket, RuleHits } from './accounting-batch.js';
import { addExcluded, countArrays, countParameters, COUNTS, hourDate, inKeyOrder } from './bucket-columns.js';
import type { SpoolRange } from '../common/spool-range.js';
import { lockGroups } from '../kernel-config/lock-groups.js';
import { nodeIdOf } from '../data/flow-names.js';
import type { FlowNames } from '../data/flow-names.js';
import { addToUsers } from './user-traffic.js';
import { dayOf, isoDay } from './log-partitions.js';
import type { SqlRunner } from './log-partitions.js';
import { planSections, writeSections } from './log-sections.js';
import type { Section, SectionChanges } from './log-sections.js';
import { INSERT_LOGS_SQL, logColumnArrays, searchText } from './traffic-log-row.js';

/** Rows per statement: enough to amortise it, few enough to keep its text and arrays small. */
const ROWS_PER_STATEMENT = 5_000;

/** Identifies a batch of a writer. The sequences of a writer only rise. */
export interface BatchId {
  writerId: string;
  sequence: number;
}

/** How the batch's log rows change the sections used by searches. Planning it again gives the same result. */
export function sectionsOf(batch: AccountingBatch, names: FlowNames, open: Section | null): SectionChanges {
  const rows = batch.logs.map((record) => ({ endedAt: record.endedAt, searchText: searchText(record, names) }));
  return planSections(open, rows);
}

/** Some of the batch was written before, by another service or before this one was killed. */
export class WrittenBeforeError extends Error {
  override readonly name = 'WrittenBeforeError';
}

/**
 * Writes a batch inside the given transaction, unless it was written before.
 * @returns false if it was written before.
 * @throws WrittenBeforeError if its sources were; the transaction has to be rolled back.
 */
export async function writeBatch(
  sql: SqlRunner,
  id: BatchId,
  batch: AccountingBatch,
  names: FlowNames,
  sections = sectionsOf(batch, names, null),
): Promise<boolean> {
  if (!(await claim(sql, id))) return false;
  await claimSources(sql, batch.sources);
  await insertLogs(sql, batch, names);
  await writeSections(sql, sections);
  await addToDomains(sql, batch);
  await addToNodeHours(sql, batch);
  await addToTotals(sql, batch);
  await addToUsers(sql, batch);
  // Groups before rules, the same order as in changes of groups.
  await addToGroups(sql, batch);
  await addToRules(sql, batch);
  return true;
}

/** The entries of these spools that are in the database. */
export async function storedRanges(sql: SqlRunner, spools: readonly string[]): Promise<SpoolRange[]> {
  const rows = (await sql.query(
    `SELECT id AS spool, lower(part)::text AS first, (upper(part) - 1)::text AS last
     FROM accounting_spools, unnest(stored) AS part WHERE id = ANY($1::uuid[])`,
    [spools],
  )) as { spool: string; first: string; last: string }[];
  return rows.map(({ spool, first, last }) => ({ spool, first: Number(first), last: Number(last) }));
}

async function claimSources(sql: SqlRunner, sources: readonly SpoolRange[]): Promise<void> {
  const spools = [...Map.groupBy(sources, ({ spool }) => spool)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [spool, ranges] of spools) {
    const parts = ranges.map(({ first, last }) => `[${first},${last}]`).join(',');
    const claimed = (await sql.query(
      `INSERT INTO accounting_spools AS spool (id, stored, updated_at) VALUES ($1, $2::int8multirange, now())
       ON CONFLICT (id) DO UPDATE SET stored = spool.stored + excluded.stored, updated_at = now()
       WHERE NOT spool.stored && excluded.stored
       RETURNING id`,
      [spool, `{${parts}}`],
    )) as unknown[];
    if (claimed.length === 0) throw new WrittenBeforeError(`Some of ${parts} of the spool ${spool} was written before`);
  }
}

async function addToGroups(sql: SqlRunner, { groups }: AccountingBatch): Promise<void> {
  if (groups.size === 0) return;
  await lockGroups(sql);
  const sums = [...groups.values()];
  await sql.query(
    `UPDATE outbound_groups owner SET upload_total = owner.upload_total + more.upload,
       download_total = owner.download_total + more.download
     FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS more (name, upload, download)
     WHERE owner.name = more.name`,
    [[...groups.keys()], sums.map(({ upload }) => upload), sums.map(({ download }) => download)],
  );
}

async function claim(sql: SqlRunner, { writerId, sequence }: BatchId): Promise<boolean> {
  const rows = (await sql.query(
    `INSERT INTO accounting_writers AS writer (id, sequence, updated_at) VALUES ($1, $2, now())
     ON CONFLICT (id) DO UPDATE SET sequence = excluded.sequence, updated_at = now()
     WHERE writer.sequence < excluded.sequence
     RETURNING sequence`,
    [writerId, sequence],
  )) as unknown[];
  return rows.length > 0;
}

async function insertLogs(sql: SqlRunner, batch: AccountingBatch, names: FlowNames): Promise<void> {
  if (batch.logs.length === 0) return;
  for (let start = 0; start < batch.logs.length; start += ROWS_PER_STATEMENT) {
    const records = batch.logs.slice(start, start + ROWS_PER_STATEMENT);
    await sql.query(INSERT_LOGS_SQL, logColumnArrays(records, names));
  }
  const perDay = new Map<number, number>();
  for (const { endedAt } of batch.logs) perDay.set(dayOf(endedAt), (perDay.get(dayOf(endedAt)) ?? 0) + 1);
  const days = [...perDay].sort(([a], [b]) => a - b);
  await sql.query(
    `INSERT INTO traffic_log_days AS day_count (day, row_count) SELECT * FROM unnest($1::date[], $2::bigint[])
     ON CONFLICT (day) DO UPDATE SET row_count = day_count.row_count + excluded.row_count`,
    [days.map(([day]) => isoDay(day)), days.map(([, rows]) => rows)],
  );
}

async function addToDomains(sql: SqlRunner, batch: AccountingBatch): Promise<void> {
  const buckets = inKeyOrder(batch.domains);
  if (buckets.length === 0) return;
  await sql.query(
    `INSERT INTO traffic_domain_hourly AS bucket (hour, domain, ${COUNTS.join(', ')}, last_seen_at)
     SELECT * FROM unnest($1::timestamptz[], $2::text[], ${countParameters(3)})
     ON CONFLICT (hour, domain) DO UPDATE SET ${addExcluded('bucket')}`,
    [buckets.map(hourDate), buckets.map((bucket) => bucket.domain), ...countArrays(buckets)],
  );
}

async function addToNodeHours(sql: SqlRunner, batch: AccountingBatch): Promise<void> {
  const buckets = inKeyOrder(batch.outbounds);
  if (buckets.length === 0) return;
  await sql.query(
    `INSERT INTO traffic_node_hourly AS bucket (hour, outbound, node_id, ${COUNTS.join(', ')}, last_seen_at)
     SELECT * FROM unnest($1::timestamptz[], $2::text[], $3::bigint[], ${countParameters(4)})
     ON CONFLICT (hour, outbound) DO UPDATE SET ${addExcluded('bucket')}`,
    [buckets.map(hourDate), ...outboundArrays(buckets), ...countArrays(buckets)],
  );
}

async function addToTotals(sql: SqlRunner, batch: AccountingBatch): Promise<void> {
  const totals = sumByOutbound(batch.outbounds.values());
  if (totals.length === 0) return;
  await sql.query(
    `INSERT INTO traffic_totals AS bucket (outbound, node_id, ${COUNTS.join(', ')}, last_seen_at)
     SELECT * FROM unnest($1::text[], $2::bigint[], ${countParameters(3)})
     ON CONFLICT (outbound) DO UPDATE SET ${addExcluded('bucket')}`,
    [...outboundArrays(totals), ...countArrays(totals)],
  );
}

/** A rule that was deleted meanwhile is skipped. Hits do not change `updated_at`. */
async function addToRules(sql: SqlRunner, batch: AccountingBatch): Promise<void> {
  const hits: RuleHits[] = [...batch.rules.values()].sort((a, b) => a.ruleId - b.ruleId);
  if (hits.length === 0) return;
  await sql.query(
    `WITH hit AS (
       SELECT rules.id, fresh.hits, fresh.last_hit_at
       FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS fresh (id, hits, last_hit_at)
       JOIN rules ON rules.id = fresh.id ORDER BY rules.id FOR NO KEY UPDATE OF rules)
     UPDATE rules SET hit_count = rules.hit_count + hit.hits, hit_at = greatest(rules.hit_at, hit.last_hit_at)
     FROM hit WHERE rules.id = hit.id`,
    [hits.map((hit) => hit.ruleId), hits.map((hit) => hit.hits), hits.map((hit) => new Date(hit.lastHitAt))],
  );
}

function sumByOutbound(buckets: Iterable<OutboundBucket>): OutboundBucket[] {
  const sums = new Map<string, OutboundBucket>();
  for (const bucket of buckets) {
    const sum = sums.get(bucket.outbound);
    if (sum === undefined) {
      sums.set(bucket.outbound, { ...bucket });
      continue;
    }
    for (const count of COUNTS) sum[count] += bucket[count];
    sum.lastSeenAt = Math.max(sum.lastSeenAt, bucket.lastSeenAt);
  }
  return inKeyOrder(sums);
}

function outboundArrays(buckets: readonly { outbound: string }[]): unknown[][] {
  return [buckets.map((bucket) => bucket.outbound), buckets.map((bucket) => nodeIdOf(bucket.outbound))];
}
