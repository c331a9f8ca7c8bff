import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadStoredData } from '../database/stored-data.js';
import { sweepCommits } from './commit-sweep.js';
import { brokenChain, brokenData } from './invariants.js';
import { newMember, siteAdministrator } from './people.js';
import { AnswerLog } from './replica-client.js';
import { ReplicaSet } from './replica-set.js';
import { sweptOperations } from './swept-operations.js';
import { countRows } from './swept-round.js';

const home = mkdtempSync(join(tmpdir(), 'gatehouse-replicas-'));
let database: TestDatabase;
let set: ReplicaSet;

beforeAll(async () => {
  database = await createTestDatabase();
  set = await ReplicaSet.start({ databaseUrl: database.url, home, services: ['resource-sharing'] });
}, 180_000);
afterAll(async () => {
  await set?.[Symbol.asyncDispose]();
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

it('points and tokens move once when the connection ends at a commit', { timeout: 240_000 }, async () => {
  const answerLog = new AnswerLog();
  for (const operation of await sweptOperations(set, answerLog)) {
    const { cuts, broken } = await sweepCommits(set, operation);
    expect(broken).toEqual([]);
    expect(new Set(cuts.map(({ moment }) => moment))).toEqual(new Set(['before', 'after']));
    // Where the outcome is not known the client is asked to come again. It never hears of a defect of the service.
    expect(cuts.map(({ status }) => status)).toContain(503);
    expect(answerLog.drain().wrong).toEqual([]);
  }
  expect(await brokenData(set, await loadStoredData())).toEqual([]);
  expect(await brokenChain(await siteAdministrator(set, answerLog), '/api/site/admin')).toEqual([]);
});

it.each([
  ['usage', 'usage_', '(SELECT sum(success_calls) AS n FROM resource_sharing.usage_daily WHERE user_id = $1)'],
  ['the quota', 'quota_used', "(SELECT sum(used) AS n FROM resource_sharing.quota_used WHERE key = 'u:' || $1)"],
])(
  'a call counts once towards %s when the connection ends while that is committed',
  async (_, table, sums) => {
    const { open, id } = await newMember(await siteAdministrator(set, new AnswerLog()), 1);
    let cuts = 0;
    for (const { database: way } of set.of('resource-sharing')) {
      way.decide = ({ wrote }) => (wrote.includes(table) && (cuts += 1) <= 4 ? 'after' : undefined);
    }
    let answered = 0;
    const isCounted = async (calls: number): Promise<boolean> =>
      (await countRows(database.url, `${sums} counted WHERE n = ${calls}`, [id])) === 1;
    await waitFor(
      async () => {
        const { status } = await open.ask(answered, { method: 'GET', path: '/api/open/ping' });
        if (status === 200) answered += 1;
        return cuts > 6;
      },
      { timeoutMs: 60_000 },
    );
    await waitFor(() => isCounted(answered), { timeoutMs: 20_000 });
  },
  120_000,
);

it('an audit entry is written once when its repetition fails, too', async () => {
  const administrator = await siteAdministrator(set, new AnswerLog());
  const { id } = await newMember(administrator, 1);
  const path = `/api/site/admin/users/${id}`;
  const change = (): Promise<unknown> =>
    administrator.ask(0, { method: 'PATCH', path, body: { premium_until: 'forever' } });
  const moments = ['after', 'before'] as const;
  const changes: Promise<unknown>[] = [];
  let cuts = 0;
  const [replica] = set.of('resource-sharing');
  if (replica === undefined) throw new Error('no replica runs');
  replica.database.decide = ({ wrote }) => {
    const moment = wrote === 'UPDATE audit_chain' ? moments[cuts] : undefined;
    if (moment === undefined) return undefined;
    cuts += 1;
    // Its entry comes while the first one waits to be tried again: the two are one batch then.
    if (cuts === 1) changes.push(change());
    return moment;
  };
  changes.push(change());
  await waitFor(() => cuts === moments.length, { timeoutMs: 20_000 });
  replica.database.decide = () => undefined;
  await Promise.all(changes);
  const entries = `resource_sharing.audit_logs WHERE path = $1 AND method = 'PATCH'`;
  await waitFor(async () => (await countRows(database.url, entries, [path])) >= 2, { timeoutMs: 20_000 });
  expect(await countRows(database.url, entries, [path])).toBe(2);
}, 120_000);
