import { PRESENT_PERIOD, PRESENT_TRAFFIC } from '../data/proxy-user-period.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import type { AccountingBatch, UserBucket } from './accounting-batch.js';
import { addExcluded, countArrays, countParameters, COUNTS, hourDate, inKeyOrder } from './bucket-columns.js';
import type { SqlRunner } from './log-partitions.js';

/** Adds what users carried, and lets all kernels know of those whose traffic is used up. */
export async function addToUsers(sql: SqlRunner, { users }: AccountingBatch): Promise<void> {
  const buckets = inKeyOrder(users);
  if (buckets.length === 0) return;
  await sql.query(
    `INSERT INTO traffic_user_hourly AS bucket (hour, username, ${COUNTS.join(', ')}, last_seen_at)
     SELECT * FROM unnest($1::timestamptz[], $2::text[], ${countParameters(3)})
     ON CONFLICT (username, hour) DO UPDATE SET ${addExcluded('bucket')}`,
    [buckets.map(hourDate), buckets.map(({ user }) => user), ...countArrays(buckets)],
  );
  if (await addToRows(sql, buckets)) await sql.query('SELECT pg_notify($1, $2)', [KERNEL_CONFIG_CHANNEL, '']);
}

/** Returns whether a user reached its quota. */
async function addToRows(sql: SqlRunner, buckets: readonly UserBucket[]): Promise<boolean> {
  const changed = (await sql.query(
    `WITH carried AS (
       SELECT name, sum(upload)::bigint AS upload, sum(download)::bigint AS download, max(seen) AS seen
       FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS part (name, upload, download, seen)
       GROUP BY name),
     owner AS (
       SELECT id, carried.*, ${PRESENT_PERIOD} AS period, ${PRESENT_TRAFFIC} AS before
       FROM proxy_users JOIN carried USING (name) ORDER BY id FOR NO KEY UPDATE OF proxy_users)
     UPDATE proxy_users SET upload_total = upload_total + owner.upload, download_total = download_total + owner.download,
       period_start = owner.period, period_traffic = owner.before + owner.upload + owner.download,
       last_used_at = greatest(last_used_at, owner.seen)
     FROM owner WHERE proxy_users.id = owner.id
     RETURNING owner.before < traffic_quota AND period_traffic >= traffic_quota AS reached`,
    [
      buckets.map(({ user }) => user),
      buckets.map(({ upload }) => upload),
      buckets.map(({ download }) => download),
      buckets.map(({ lastSeenAt }) => new Date(lastSeenAt)),
    ],
  )) as [{ reached: boolean | null }[], number];
  return changed[0].some(({ reached }) => reached === true);
}
