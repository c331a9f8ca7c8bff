import { randomInt, randomUUID } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestKeys } from '../src/applications/test-keys.service.js';
import { LAYERED_TABLES, SHARED_TABLES } from '../src/data/test-layer.js';
import { createShares, givePoints } from './points-support.js';
import { newShare } from './share-callers.js';
import { liftTestLimits } from './support/test-key-mode.js';
import { dataOf, TestModeSite, type Call } from './support/test-mode-site.js';

let mode: TestModeSite;
let restore: () => void;
beforeAll(async () => {
  restore = liftTestLimits();
  mode = await TestModeSite.start({ WORKERS: 'separate' });
});
afterAll(async () => {
  restore();
  await mode.site.close();
});

/** What may change outside of test mode: who called when and how often, and that owners emptied their test data. */
const COUNTING = [
  'revocation_epoch',
  'credentials',
  'rate_limits',
  'quota_used',
  'refused_calls',
  'usage_daily',
  'usage_endpoint_daily',
];

async function checksums(): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  for (const table of [...LAYERED_TABLES, ...SHARED_TABLES].filter((name) => !COUNTING.includes(name))) {
    const [row] = await mode.read<{ sum: string | null }>(
      `SELECT md5(string_agg(t::text, E'\\n' ORDER BY t::text)) AS sum FROM resource_sharing.${table} t`,
    );
    found[table] = row?.sum ?? null;
  }
  return found;
}

describe('a storm of random test calls', () => {
  it('leaves every table of the service as it was, and books in test mode that add up', async () => {
    const setups = [await mode.setUp(), await mode.setUp(), await mode.setUp()];
    for (const { owner } of setups) {
      await mode.sql.query("UPDATE site_accounts SET premium_until = now() + interval '30 years' WHERE id = $1", [
        owner.id,
      ]);
      await createShares(mode.sql, owner.id, { count: 3, price: 5 });
      await givePoints(mode.sql, owner.id, 100);
    }
    const real = (await mode.read<{ slug: string }>('SELECT slug FROM shares')).map(({ slug }) => slug);
    await mode.settle();
    // The audit log takes the events of the preparation.
    await waitFor(async () => (await mode.read('SELECT event_id FROM unchained_events')).length === 0);
    const before = await checksums();
    const titles = 'resource_sharing_test.titles';
    const [{ id: film }] = (await mode.read<{ id: number }>(
      `INSERT INTO ${titles} (media_type, tmdb_id) VALUES ('movie', '603') RETURNING id`,
    )) as [{ id: number }];
    const slugs: string[] = [...real];
    const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;
    const statuses: Record<number, number> = {};
    const one = async (): Promise<void> => {
      const setup = pick(setups);
      const { key, token } = setup;
      const slug = slugs.length === 0 ? randomUUID() : pick(slugs);
      const operation = pick<Omit<Call, 'key'>>([
        { method: 'post', path: '/shares', body: newShare({ unlock_points: pick([0, 10, 500]) }) },
        { method: 'post', path: '/resources/unlock', body: { slug } },
        { method: 'post', path: '/resources/unlock', body: { slug }, idempotencyKey: randomUUID() },
        { method: 'patch', path: `/shares/${slug}`, body: { unlock_points: pick([null, 3, 30]) } },
        { method: 'delete', path: `/shares/${slug}` },
        { path: `/shares/${slug}` },
        { path: '/shares' },
        { path: '/me' },
        { path: '/resources/movie/603' },
        { method: 'post', path: '/checkin', body: { is_gambler: pick([true, false]) } },
        { path: '/vip/weekly-free-quota' },
        { path: '/vip/entitlements' },
        { method: 'post', path: '/resources/unlock', body: { slugs: [slug, slugs.at(-1) ?? slug, randomUUID()] } },
        {
          method: 'post',
          path: '/subscriptions',
          body: { target_type: 'media_resource', target_key: `movie:${film}` },
        },
        { path: '/subscriptions' },
        { path: '/messages' },
        { method: 'post', path: '/messages/read-all', body: {} },
      ]);
      if (randomInt(40) === 0) await mode.site.app.get(TestKeys).empty(setup.owner.id, setup.app.clientId);
      const answer = await mode.call({ ...operation, key, token });
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (operation.path === '/shares' && answer.status === 200 && operation.method === 'post') {
        slugs.push(dataOf<{ slug: string }>(answer).slug);
      }
      if (slugs.length === real.length) slugs.push(...Object.values(await mode.madeUp(setup)));
    };
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 10 }, one));
    await mode.settle();
    // A call whose data are removed meanwhile is to be repeated; any other one has its usual answer.
    expect(Object.keys(statuses).filter((status) => Number(status) >= 500 && status !== '503')).toEqual([]);
    expect(statuses[503] ?? 0).toBeLessThan(20);
    expect(statuses[200]).toBeGreaterThan(50);
    const after = await checksums();
    expect(after).toEqual(before);
    const schema = 'resource_sharing_test';
    expect(
      await mode.read(`SELECT t.id FROM ${schema}.ledger_transactions t LEFT JOIN ${schema}.ledger_entries e
        ON e.transaction_id = t.id GROUP BY t.id HAVING count(e.amount) <> 2 OR sum(e.amount) <> 0`),
    ).toEqual([]);
    expect(
      await mode.read(`SELECT a.user_id FROM ${schema}.ledger_accounts a LEFT JOIN (SELECT user_id, sum(amount) AS sum,
        max(account_version) AS version FROM ${schema}.ledger_entries GROUP BY 1) e USING (user_id)
        WHERE a.balance <> coalesce(e.sum, 0) OR a.version <> coalesce(e.version, 0)`),
    ).toEqual([]);
    // No message is about a share of another application.
    expect(
      await mode.read(`SELECT m.id FROM ${schema}.messages m JOIN ${schema}.test_accounts t ON t.id = m.user_id
        JOIN ${schema}.shares s ON s.id = m.share_id WHERE s.application_id <> t.application_id`),
    ).toEqual([]);
    // No movement of points is shared by two applications.
    expect(
      await mode.read(`SELECT e.transaction_id FROM ${schema}.ledger_entries e JOIN ${schema}.test_accounts t
        ON t.id = e.user_id GROUP BY 1 HAVING count(DISTINCT t.application_id) > 1`),
    ).toEqual([]);
  });
});
