import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UserCaller } from '../src/credentials/caller.js';
import { LimitStore, type TokenRequest } from '../src/limits/limit-store.js';
import { UnlockRefused } from '../src/risk/unlock-risk.js';
import { Unlocks, type UnlockedShare } from '../src/unlocks/unlocks.service.js';
import { auditBooks, createAccounts, createShares, liftLimits, SOUND } from './points-support.js';
import { startSite, type SiteApp } from './site-app.js';

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

const caller = (userId: number): UserCaller =>
  ({ userId, isPremium: false, applicationId: null, credentialId: 1, grantId: null }) as UserCaller;
const unlock = (userId: number, slug: string): Promise<UnlockedShare> =>
  site.app.get(Unlocks).unlock(caller(userId), slug);

interface Answer {
  outcome: string;
  points: number;
}

/** One statement for several users, as the service sends it. */
function together(
  users: readonly number[],
  slugs: readonly string[],
  source: { query: DataSource['query'] } = sql,
): Promise<Answer[]> {
  const nobody = users.map(() => null);
  const no = users.map(() => false);
  return source.query(
    "SELECT outcome, points FROM unlock_shares($1, $2, $3, $4, $4, $4, $3, 'Asia/Shanghai', 50, 100) ORDER BY n",
    [users, slugs, no, nobody],
  );
}

const balances = async (users: readonly number[]): Promise<number[]> =>
  (
    (await sql.query('SELECT balance FROM ledger_accounts WHERE user_id = ANY ($1) ORDER BY user_id', [users])) as {
      balance: number;
    }[]
  ).map(({ balance }) => balance);

describe('unlocks of several users in one transaction', () => {
  it('each have their own outcome; what is refused leaves nothing behind', async () => {
    const users = await createAccounts(sql, 6, 10);
    const [sharer, rich, poor, slow, owner, free] = users as [number, number, number, number, number, number];
    const [dear, dearer, own, gratis] = [
      ...(await createShares(sql, sharer, { price: 10 })),
      ...(await createShares(sql, sharer, { price: 11 })),
      ...(await createShares(sql, owner, { price: 5 })),
      ...(await createShares(sql, sharer, { price: null })),
    ].map(({ slug }) => slug) as [string, string, string, string];
    await sql.query("INSERT INTO risk_states (user_id, tier, paused_until) VALUES ($1, 1, now() + interval '1 hour')", [
      slow,
    ]);
    const asked = [slow, owner, poor, free, rich, sharer];
    const answers = await together(asked, [dear, own, dearer, gratis, dear, randomUUID()]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['paused', 'own', 'insufficient', 'free', 'points', 'none']);
    expect(await balances(users)).toEqual([20, 0, 10, 10, 10, 10]);
    const kept = await sql.query('SELECT user_id, via, points FROM unlocks WHERE user_id = ANY ($1) ORDER BY user_id', [
      users,
    ]);
    expect(kept).toEqual([
      { user_id: rich, via: 'points', points: 10 },
      { user_id: free, via: 'free', points: 0 },
    ]);
    const counted = await sql.query(
      'SELECT user_id FROM risk_states WHERE user_id = ANY ($1) AND minute_tat IS NOT NULL ORDER BY 1',
      [users],
    );
    expect(counted).toEqual([{ user_id: rich }, { user_id: free }]);
  });

  it('who pay each other crosswise, and one share that all want: nobody is below zero in between', async () => {
    const users = await createAccounts(sql, 5, 3);
    const shares = await Promise.all(users.map((user) => createShares(sql, user, { price: 3 })));
    const next = users.map((_, index) => shares[(index + 1) % users.length]?.[0]?.slug ?? '');
    expect((await together(users, next)).map(({ points }) => points)).toEqual([3, 3, 3, 3, 3]);
    expect(await balances(users)).toEqual([3, 3, 3, 3, 3]);
    const [sharer] = await createAccounts(sql, 1);
    const [wanted] = await createShares(sql, sharer ?? 0, { price: 3 });
    expect(
      (
        await together(
          users,
          users.map(() => wanted?.slug ?? ''),
        )
      ).map(({ outcome }) => outcome),
    ).toEqual(users.map(() => 'points'));
    expect(await balances([...users, sharer ?? 0])).toEqual([0, 0, 0, 0, 0, 15]);
    const count = await sql.query('SELECT unlocked_users_count AS n FROM share_counters WHERE share_id = $1', [
      wanted?.id,
    ]);
    expect(count).toEqual([{ n: 5 }]);
  });

  it('two of one user are no such batch', async () => {
    const [user, sharer] = (await createAccounts(sql, 2, 9)) as [number, number];
    const [one, other] = await createShares(sql, sharer, { count: 2, price: 3 });
    await expect(together([user, user], [one?.slug ?? '', other?.slug ?? ''])).rejects.toThrow(
      'two unlocks of one user',
    );
  });

  it('in storms of crossing batches: no deadlock', async () => {
    const users = await createAccounts(sql, 12, 1_000);
    const shares = (await Promise.all(users.map((user) => createShares(sql, user, { count: 12, price: 2 })))).flat();
    const batch = (): Promise<unknown> => {
      const some = users.toSorted(() => Math.random() - 0.5).slice(0, 6);
      return together(
        some,
        some.map(() => shares[Math.floor(Math.random() * shares.length)]?.slug ?? ''),
      );
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 150 }, batch));
    // 55P03: waited longer than a batch may. The service tries its members one by one then.
    const failures = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(failures.filter(({ reason }) => (reason as { code?: string }).code !== '55P03')).toEqual([]);
    const sum = (await balances(users)).reduce((total, balance) => total + balance, 0);
    expect(sum).toBe(12_000);
  });
});

describe('the service', () => {
  it('puts simultaneous unlocks into few transactions, and gives each its own outcome', async () => {
    const users = await createAccounts(sql, 20, 5);
    const [sharer] = (await createAccounts(sql, 1)) as [number];
    const [share, dear] = [
      await createShares(sql, sharer, { price: 5 }),
      await createShares(sql, sharer, { price: 6 }),
    ];
    const results = await Promise.allSettled(
      users.map((user, index) => unlock(user, (index % 2 === 0 ? share : dear)[0]?.slug ?? '')),
    );
    for (const [index, result] of results.entries()) {
      if (index % 2 === 0)
        expect(result).toMatchObject({ status: 'fulfilled', value: { outcome: 'points', points: 5 } });
      else expect(result).toMatchObject({ status: 'rejected', reason: { code: 'INSUFFICIENT_POINTS' } });
    }
    const [{ n }] = (await sql.query('SELECT count(DISTINCT xmin::text) AS n FROM unlocks WHERE user_id = ANY ($1)', [
      users,
    ])) as [{ n: number }];
    expect(n).toBe(1);
  });

  it('one that has to wait for long does not keep the others', async () => {
    const [stuck, quick, sharer] = (await createAccounts(sql, 3, 5)) as [number, number, number];
    const [share] = await createShares(sql, sharer, { price: null });
    const blocker = sql.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('SELECT 1 FROM ledger_accounts WHERE user_id = $1 FOR UPDATE', [stuck]);
    let over = false;
    const late = unlock(stuck, share?.slug ?? '').finally(() => (over = true));
    expect(await unlock(quick, share?.slug ?? '')).toMatchObject({ outcome: 'free' });
    expect(over).toBe(false);
    await blocker.commitTransaction();
    await blocker.release();
    expect(await late).toMatchObject({ outcome: 'free' });
  });

  it('lets nobody wait for ever, alone or within a transaction', async () => {
    const [stuck, sharer] = (await createAccounts(sql, 2, 5)) as [number, number];
    const [share] = await createShares(sql, sharer, { price: null });
    const slug = share?.slug ?? '';
    const blocker = sql.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('SELECT 1 FROM ledger_accounts WHERE user_id = $1 FOR UPDATE', [stuck]);
    const refused = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 };
    await Promise.all([
      expect(unlock(stuck, slug)).rejects.toMatchObject(refused),
      expect(sql.transaction((tx) => site.app.get(Unlocks).unlock(caller(stuck), slug, tx))).rejects.toMatchObject(
        refused,
      ),
    ]);
    await blocker.commitTransaction();
    expect(await unlock(stuck, slug)).toMatchObject({ outcome: 'free' });
    await blocker.release();
  });

  it('learns how long a refused one has to wait', async () => {
    const [user, sharer] = (await createAccounts(sql, 2)) as [number, number];
    const [share] = await createShares(sql, sharer, { price: null });
    await sql.query("INSERT INTO risk_states (user_id, tier, paused_until) VALUES ($1, 1, now() + interval '1 hour')", [
      user,
    ]);
    await expect(unlock(user, share?.slug ?? '')).rejects.toSatisfy((error: unknown) => {
      return error instanceof UnlockRefused && error.tier === 1 && !error.hit;
    });
  });
});

describe('admissions that come together', () => {
  const token = (key: string, burst: number): TokenRequest => ({ key, burst, intervalMs: 60_000 / burst, cost: 1 });
  const granted = async (
    asked: Promise<{ tokens: readonly { granted: number }[]; exceeded: number | undefined }>[],
  ): Promise<number> =>
    (await Promise.all(asked)).filter(({ tokens, exceeded }) => {
      return exceeded === undefined && tokens.every(({ granted: given }) => given === 1);
    }).length;

  it('pass each limit exactly, and say what is left as if they had come one by one', async () => {
    const store = site.app.get(LimitStore);
    const key = randomUUID();
    const admissions = await Promise.all(
      Array.from({ length: 6 }, (_, i) => store.admit([token(key, 10), token(`${key} ${i}`, 10)], undefined)),
    );
    expect(admissions.map(({ tokens }) => tokens.map(({ room }) => room))).toEqual(
      [10, 9, 8, 7, 6, 5].map((room) => [room, 10]),
    );
    expect(await granted(Array.from({ length: 9 }, () => store.admit([token(key, 10)], undefined)))).toBe(4);
  });

  it('count each quota exactly, of calls without another limit too', async () => {
    const store = site.app.get(LimitStore);
    const quota = { keys: [randomUUID(), randomUUID()], limits: [100, 7], day: '2026-11-21' };
    const asked = Array.from({ length: 20 }, () => store.admit([], quota));
    expect(await granted(asked)).toBe(7);
    const used = await sql.query('SELECT used FROM quota_used WHERE key = ANY ($1)', [quota.keys]);
    expect(used).toEqual([{ used: 7 }, { used: 7 }]);
  });
});
