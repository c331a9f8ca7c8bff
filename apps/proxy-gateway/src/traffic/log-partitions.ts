import { addRangePartition } from '@gatehouse/persistence';

/** Partitions of `traffic_logs` are whole days in UTC. */
const DAY_MS = 86_400_000;

/** What runs a statement: a pool, a client or a transaction. */
export interface SqlRunner {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

export function daysOf(times: Iterable<number>): number[] {
  return [...new Set([...times].map(dayOf))].sort((a, b) => a - b);
}

export function daysAhead(now: number, count: number): number[] {
  return Array.from({ length: count + 1 }, (_, index) => dayOf(now) + index * DAY_MS);
}

export function isoDay(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}

export function partitionName(day: number): string {
  return `traffic_logs_${isoDay(day).replaceAll('-', '')}`;
}

/** Null for a name that is not one of our partitions. */
function dayOfPartition(name: string): number | null {
  const match = /^traffic_logs_(\d{4})(\d{2})(\d{2})$/.exec(name);
  return match === null ? null : Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
}

/** One writer at a time creates or drops partitions. The number only has to differ from other advisory locks. */
const PARTITION_LOCK = 7_431_902;

/** Creates missing partitions. Call inside a transaction, so that the lock ends with it. */
export async function createPartitions(sql: SqlRunner, days: readonly number[]): Promise<void> {
  await sql.query(`SET LOCAL lock_timeout = '2s'`);
  await sql.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
  const present = new Set(await partitionNames(sql));
  for (const day of days.filter((candidate) => !present.has(partitionName(candidate)))) {
    const [from, to] = [new Date(day), new Date(day + DAY_MS)];
    await addRangePartition(sql, { parent: 'traffic_logs', name: partitionName(day), from, to });
  }
}

/** Drops whole days before `keepFrom` and returns them. Call inside a transaction. */
export async function dropPartitionsBefore(sql: SqlRunner, keepFrom: number): Promise<string[]> {
  // If a reader holds the table, writers must not queue behind this statement.
  await sql.query(`SET LOCAL lock_timeout = '2s'`);
  await sql.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
  const old = (await partitionNames(sql)).filter((name) => (dayOfPartition(name) ?? Infinity) < dayOf(keepFrom));
  for (const name of old) await sql.query(`DROP TABLE ${name}`);
  await sql.query('DELETE FROM traffic_log_days WHERE day < $1::date', [isoDay(dayOf(keepFrom))]);
  await sql.query('DELETE FROM traffic_log_sections WHERE last_at < $1', [new Date(dayOf(keepFrom))]);
  return old;
}

async function partitionNames(sql: SqlRunner): Promise<string[]> {
  const rows = (await sql.query(
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = 'traffic_logs'::regclass`,
  )) as { name: string }[];
  return rows.map((row) => row.name);
}
