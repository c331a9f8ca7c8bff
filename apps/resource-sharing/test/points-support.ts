import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';

/** What a test of points sets up behind the API: accounts, points and shares, all by SQL. */

export async function createAccounts(sql: DataSource, count: number, points = 0): Promise<number[]> {
  const rows = (await sql.query(
    `INSERT INTO site_accounts (username, nickname, password_hash)
     SELECT 'account-' || gen_random_uuid(), 'nick', 'none' FROM generate_series(1, $1) RETURNING id`,
    [count],
  )) as { id: number }[];
  const ids = rows.map(({ id }) => id);
  if (points > 0) for (const id of ids) await givePoints(sql, id, points);
  return ids;
}

export async function givePoints(sql: DataSource, userId: number, points: number): Promise<void> {
  await sql.query("SELECT ledger_transfer('grant', $1, NULL, $2, 'grants', $3)", [randomUUID(), userId, points]);
}

export async function setPremium(sql: DataSource, userId: number, duration: string | null): Promise<void> {
  await sql.query('UPDATE site_accounts SET premium_until = now() + $2::interval WHERE id = $1', [userId, duration]);
}

/** For tests that do more at once than any user may. Before the first request: limits are kept for a while. */
export async function liftLimits(sql: DataSource): Promise<void> {
  await sql.query(`UPDATE risk_settings SET unlocks_per_minute = 1000000, unlocks_per_hour = 1000000, hits = 100,
    paid_unlocks_per_hour = 1000, unseen_sample = 1000`);
  await sql.query(`UPDATE quota_profiles SET app_per_minute = NULL, app_burst_per_second = NULL,
    app_address_per_minute = NULL, user_per_minute = NULL, app_per_day = NULL, user_per_day = NULL,
    addresses_per_day = NULL, group_per_minute = '{}', endpoint_per_day = '{}'`);
}

export interface TestShare {
  readonly id: number;
  readonly slug: string;
}

/** `price` null: a free one. */
export async function createShares(
  sql: DataSource,
  ownerId: number,
  { count = 1, price = 10, official = false }: { count?: number; price?: number | null; official?: boolean } = {},
): Promise<TestShare[]> {
  return (await sql.query(
    `WITH title AS (
       INSERT INTO titles (media_type, tmdb_id) VALUES ('movie', '550')
       ON CONFLICT (media_type, tmdb_id) DO UPDATE SET tmdb_id = excluded.tmdb_id RETURNING id
     )
     INSERT INTO shares (owner_id, movie_id, kind, link_key, url, access_code, unlock_points, is_official)
     SELECT $1, title.id, '115', '115:' || key, 'https://115.com/s/' || key, 'a1b2', $3, $4
     FROM title, (SELECT replace(gen_random_uuid()::text, '-', '') AS key FROM generate_series(1, $2)) keys
     RETURNING id, slug`,
    [ownerId, count, price, official],
  )) as TestShare[];
}

export interface Books {
  readonly sum: number;
  readonly negative: number;
  /** Accounts whose balance, version or chain does not follow from their entries. */
  readonly broken: number;
  readonly unbalanced: number;
  readonly debits: number;
  readonly paidUnlocks: number;
  readonly chargedTwice: number;
  readonly checkIns: number;
  readonly checkInTransfers: number;
}

/** Looks at the books as they lie in the tables, without the triggers and functions that wrote them. */
export async function auditBooks(sql: DataSource): Promise<Books> {
  const [books] = (await sql.query(`SELECT
    (SELECT coalesce(sum(amount), 0)::integer FROM ledger_entries) AS sum,
    (SELECT count(*) FROM ledger_accounts WHERE balance < 0)
      + (SELECT count(*) FROM ledger_entries WHERE balance_after < 0) AS negative,
    (SELECT count(*) FROM ledger_accounts a LEFT JOIN LATERAL (
       SELECT count(*) AS entries, coalesce(sum(amount), 0) AS total, coalesce(max(account_version), 0) AS last,
         coalesce(bool_and(balance_after = running), true) AS chained
       FROM (SELECT amount, account_version, balance_after, sum(amount) OVER (ORDER BY account_version) AS running
         FROM ledger_entries WHERE user_id = a.user_id) chain) e ON true
     WHERE a.balance <> e.total OR a.version <> e.entries OR a.version <> e.last OR NOT e.chained) AS broken,
    (SELECT count(*) FROM (SELECT transaction_id FROM ledger_entries
       GROUP BY transaction_id HAVING sum(amount) <> 0 OR count(*) <> 2) t) AS unbalanced,
    (SELECT count(*) FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
       WHERE t.kind = 'unlock' AND e.amount < 0) AS debits,
    (SELECT count(*) FROM unlocks u JOIN ledger_transactions t
       ON t.kind = 'unlock' AND t.ref = u.user_id || ':' || u.share_id
       JOIN ledger_entries e ON e.transaction_id = t.id AND e.user_id = u.user_id AND e.amount = -u.points
       WHERE u.via = 'points') AS "paidUnlocks",
    (SELECT count(*) FROM (SELECT ref FROM ledger_transactions WHERE kind = 'unlock'
       GROUP BY ref HAVING count(*) > 1) t) AS "chargedTwice",
    (SELECT count(*) FROM check_ins WHERE points <> 0) AS "checkIns",
    (SELECT count(*) FROM ledger_transactions WHERE kind = 'check_in') AS "checkInTransfers"`)) as [Books];
  return books;
}

/** What must hold of any books. */
export const SOUND = { sum: 0, negative: 0, broken: 0, unbalanced: 0, chargedTwice: 0 };
