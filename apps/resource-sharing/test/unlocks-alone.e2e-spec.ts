import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  auditBooks,
  createAccounts,
  createShares,
  givePoints,
  liftLimits,
  setPremium,
  SOUND,
} from './points-support.js';
import { startSite, type SiteApp } from './site-app.js';

// One unlock has a function of its own, unlock_share(), because it is cheaper than that of several.

let site: SiteApp;
let sql: DataSource;

beforeAll(async () => {
  site = await startSite();
  sql = site.app.get(DataSource);
  await liftLimits(sql);
});
afterAll(async () => {
  expect(await auditBooks(sql)).toMatchObject(SOUND);
  await site.close();
});

interface Situation {
  readonly price: number | null;
  readonly official?: boolean;
  readonly points?: number;
  /** Changes by SQL; $1 is the user, $2 the share. */
  readonly before?: string;
  readonly premium?: boolean;
}

const situations: Record<string, Situation> = {
  'for points': { price: 7, points: 10 },
  'with too few points': { price: 11, points: 10 },
  free: { price: null },
  'of a price that was raised a moment ago': {
    price: 3,
    points: 10,
    before: 'UPDATE shares SET unlock_points = 9 WHERE id = $2 AND $1::bigint > 0',
  },
  'for the second time': {
    price: 7,
    points: 10,
    before: "INSERT INTO unlocks (user_id, share_id, via, points) VALUES ($1, $2, 'points', 7)",
  },
  'of a withdrawn share': {
    price: 7,
    points: 10,
    before: 'UPDATE shares SET deleted_at = now() WHERE id = $2 AND $1::bigint > 0',
  },
  'of an own share': { price: 7, before: 'UPDATE shares SET owner_id = $1 WHERE id = $2' },
  'of an official share with Premium': { price: 7, official: true, premium: true },
  'in the week of Premium': { price: 7, premium: true },
  'after a week that is used up': {
    price: 7,
    points: 10,
    premium: true,
    before: `INSERT INTO weekly_free (user_id, week, used) SELECT $1, week_of(now(), 'Asia/Shanghai'), 50 WHERE $2::bigint > 0`,
  },
  'by the bonus of a week': {
    price: 7,
    premium: true,
    before: `INSERT INTO weekly_free (user_id, week, used, bonus)
      SELECT $1, week_of(now(), 'Asia/Shanghai'), 50, 2 WHERE $2::bigint > 0`,
  },
  'during a pause': {
    price: 7,
    points: 10,
    before: `INSERT INTO risk_states (user_id, tier, paused_until) SELECT $1, 3, now() + interval '1 day' WHERE $2::bigint > 0`,
  },
  'beyond the limit of the hour': {
    price: 7,
    points: 10,
    before: `INSERT INTO risk_states (user_id, hour_tat) SELECT $1, now() + interval '1 day' WHERE $2::bigint > 0`,
  },
  'of a tier that has passed': {
    price: 7,
    points: 10,
    before: `INSERT INTO risk_states (user_id, tier, changed_at, troubled_at)
      SELECT $1, 2, now() - interval '90 hours', now() - interval '80 hours' WHERE $2::bigint > 0`,
  },
  'of the third application in a minute': {
    price: 7,
    points: 10,
    before: `INSERT INTO risk_states (user_id, applications, applications_at)
      SELECT $1, '{8,9}', ARRAY[now(), now()] WHERE $2::bigint > 0`,
  },
  'of a share whose detail was looked at': {
    price: 7,
    points: 10,
    before: "INSERT INTO share_looks (user_id, share_id, day) VALUES ($1, $2, '2026-11-21')",
  },
};

/** What an unlock answers and leaves behind, without numbers and times that differ. */
async function traceOf(user: number, share: number, sharer: number, answer: unknown): Promise<unknown> {
  const rows = (text: string, second = share): Promise<unknown> =>
    sql.query(text, text.includes('$2') ? [user, second] : [user]);
  return {
    answer,
    balances: await rows(
      'SELECT user_id = $1 AS is_buyer, balance, version FROM ledger_accounts WHERE user_id IN ($1, $2) ORDER BY 1',
      sharer,
    ),
    unlocks: await rows('SELECT via, points FROM unlocks WHERE user_id = $1 AND share_id = $2'),
    moved: await rows(`SELECT t.kind, e.position, e.amount, e.balance_after FROM ledger_transactions t
      JOIN ledger_entries e ON e.transaction_id = t.id WHERE t.ref = $1::bigint || ':' || $2::bigint ORDER BY e.position`),
    events: await rows(`SELECT type, (details - 'share_id' - 'until')::text AS details FROM audit_events
      WHERE user_id = $1 ORDER BY id`),
    state: await rows(`SELECT tier, changed_at > now() - interval '1 hour' AS changed, troubled_at IS NULL AS clean,
      incident_at IS NULL AS quiet, paused_until > now() AS paused, minute_tat IS NULL AS uncounted, hour_tat IS NULL AS new,
      cardinality(paid_at) AS paid, applications::text, cardinality(applications_at) AS times, seen::text
      FROM risk_states WHERE user_id = $1`),
    week: await rows('SELECT used, bonus FROM weekly_free WHERE user_id = $1'),
    counter: await rows('SELECT unlocked_users_count AS n FROM share_counters WHERE share_id = $2 AND $1::bigint > 0'),
  };
}

async function tryIn(
  { price, official = false, points = 0, before, premium }: Situation,
  alone: boolean,
): Promise<unknown> {
  const [user, sharer, other] = (await createAccounts(sql, 3)) as [number, number, number];
  if (points > 0) await givePoints(sql, user, points);
  const [share] = await createShares(sql, sharer, { price, official });
  if (premium) await setPremium(sql, user, '30 years');
  if (before !== undefined) await sql.query(before, [user, share?.id]);
  const slug = share?.slug;
  const answered = `u.outcome, u.kind, u.access_code, u.points, u.tier, u.quota, u.remaining, round(u.reset_s) AS reset,
    round(u.retry_s) AS retry`;
  const answers: unknown[] = alone
    ? await sql.query(
        `SELECT ${answered} FROM unlock_share($1, $2, true, NULL, NULL, NULL, false, 'Asia/Shanghai', 50, 100) u`,
        [user, slug],
      )
    : await sql.query(
        `SELECT ${answered} FROM unlock_shares($1, $2, $3, $4, $4, $4, $5, 'Asia/Shanghai', 50, 100) u ORDER BY u.n`,
        [
          [user, other],
          [slug, randomUUID()],
          [true, true],
          [null, null],
          [false, false],
        ],
      );
  return traceOf(user, share?.id ?? 0, sharer, answers[0]);
}

describe('an unlock alone', () => {
  for (const [name, situation] of Object.entries(situations)) {
    it(`${name}: answers and leaves what it does among others`, async () => {
      expect(await tryIn(situation, true)).toEqual(await tryIn(situation, false));
    });
  }

  it('covers every outcome', async () => {
    const outcomes = await Promise.all(Object.values(situations).map((situation) => tryIn(situation, true)));
    const names = (outcomes as { answer: { outcome: string } }[]).map(({ answer }) => answer.outcome);
    const all = [
      'points',
      'insufficient',
      'free',
      'owned',
      'none',
      'own',
      'official',
      'weekly_free',
      'blocked',
      'too_fast',
    ];
    expect(new Set(names)).toEqual(new Set(all));
  });
});
