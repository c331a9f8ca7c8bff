import { randomUUID } from 'node:crypto';
import { createDataSource, UnitOfWork, urlOf } from '@gatehouse/persistence';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PointGrants } from '../src/points/point-grants.js';
import { PointMetrics } from '../src/points/point-metrics.js';
import { PointsLedger, type LedgerParty, type Transfer } from '../src/points/points-ledger.js';
import { runStatement } from '../src/points/run-statement.js';
import { ShareFees } from '../src/points/share-fees.js';
import { auditBooks, createAccounts, createShares, givePoints, SOUND } from './points-support.js';
import { startSite, type SiteApp } from './site-app.js';

let site: SiteApp;
let sql: DataSource;
let ledger: PointsLedger;

beforeAll(async () => {
  site = await startSite();
  sql = site.app.get(DataSource);
  ledger = site.app.get(PointsLedger);
});
afterAll(() => site.close());

/** A transfer between users, of a ref of its own. */
function moving(from: LedgerParty, to: LedgerParty, amount: number, changes: Partial<Transfer> = {}): Transfer {
  return { kind: 'grant', ref: randomUUID(), from, to, amount, ...changes };
}

async function twoAccounts(points: number): Promise<[number, number]> {
  return (await createAccounts(sql, 2, points)) as [number, number];
}

describe('a transfer', () => {
  it('deducts from one account what it adds to the other, in two entries', async () => {
    const [a, b] = await twoAccounts(10);
    const result = await ledger.transfer(moving({ userId: a }, { userId: b }, 4));
    expect(result).toMatchObject({ moved: 4, fromBalance: 6, toBalance: 14, replayed: false });
    expect(await ledger.history(a)).toMatchObject([
      { version: 2, amount: -4, balanceAfter: 6 },
      { version: 1, amount: 10, balanceAfter: 10 },
    ]);
    expect(await ledger.history(b, { limit: 1 })).toMatchObject([{ version: 2, amount: 4, balanceAfter: 14 }]);
    expect(await ledger.history(a, { before: 2 })).toHaveLength(1);
    expect(result.transactionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
  });

  it('has ids that begin with the time, so later ones sort after earlier ones', async () => {
    const [a] = await twoAccounts(0);
    const before = Date.now();
    const { transactionId } = await ledger.transfer(moving('grants', { userId: a }, 1));
    const at = Number.parseInt(transactionId?.replaceAll('-', '').slice(0, 12) ?? '', 16);
    expect(at).toBeGreaterThanOrEqual(before - 1000);
    expect(at).toBeLessThanOrEqual(Date.now() + 1000);
  });

  it('of more than the balance: INSUFFICIENT_POINTS, and nothing has moved', async () => {
    const [a, b] = await twoAccounts(3);
    await expect(ledger.transfer(moving({ userId: a }, { userId: b }, 4))).rejects.toMatchObject({
      code: 'INSUFFICIENT_POINTS',
      status: 402,
    });
    expect([await ledger.balance(a), await ledger.balance(b)]).toEqual([3, 3]);
  });

  it('that is refused leaves its connection to the next one, and a broken connection is replaced', async () => {
    const [a] = await twoAccounts(3);
    const own = createDataSource({
      url: urlOf(sql),
      schema: 'resource_sharing',
      entities: [],
      migrations: [],
      applicationName: 'one connection',
      poolSize: 1,
    });
    await own.initialize();
    onTestFinished(() => own.destroy());
    const transfers = new PointsLedger(own, site.app.get(PointMetrics));
    const session = async (text = 'SELECT pg_backend_pid() AS pid'): Promise<number | undefined> => {
      const rows = await runStatement<{ pid: number }>(own, undefined, { name: text.slice(0, 60), text }, []);
      return rows[0]?.pid;
    };
    const first = await session();
    const fee = moving({ userId: a }, 'fees', 1);
    await transfers.transfer(fee);
    await expect(transfers.transfer({ ...fee, amount: 2 })).rejects.toMatchObject({ code: 'CONFLICT' });
    const dear = moving({ userId: a }, 'fees', 4);
    await expect(transfers.transfer(dear)).rejects.toMatchObject({ code: 'INSUFFICIENT_POINTS' });
    expect(await session()).toBe(first);
    await expect(session('SELECT pg_terminate_backend(pg_backend_pid()) AS pid')).rejects.toThrow('terminating');
    expect(await session()).not.toBe(first);
  });

  it('of at most the balance: takes what there is, and nothing from an empty account', async () => {
    const [a] = await twoAccounts(3);
    const fee = moving({ userId: a }, 'fees', 5, { atMostBalance: true });
    expect(await ledger.transfer(fee)).toMatchObject({ moved: 3, fromBalance: 0, replayed: false });
    expect(await ledger.transfer(fee)).toMatchObject({ moved: 3, replayed: true });
    const next = await ledger.transfer({ ...fee, ref: randomUUID() });
    expect(next).toEqual({ transactionId: null, moved: 0, fromBalance: 0, toBalance: null, replayed: false });
  });

  it('repeated moves nothing; its ref with another amount or party: CONFLICT', async () => {
    const [a, b] = await twoAccounts(10);
    const transfer = moving({ userId: a }, { userId: b }, 4);
    const first = await ledger.transfer(transfer);
    const repeats = await Promise.all(Array.from({ length: 10 }, () => ledger.transfer(transfer)));
    expect(repeats).toEqual(Array.from({ length: 10 }, () => ({ ...first, replayed: true })));
    for (const other of [{ amount: 5 }, { to: 'fees' as const }, { from: { userId: b }, to: { userId: a } }]) {
      await expect(ledger.transfer({ ...transfer, ...other })).rejects.toMatchObject({ code: 'CONFLICT' });
    }
    expect(await ledger.balance(a)).toBe(6);
  });

  it('of an invalid amount is refused', async () => {
    const [a] = await twoAccounts(10);
    const party = { userId: a };
    for (const wrong of [
      moving(party, party, 1),
      moving(party, 'fees', 0),
      moving(party, 'fees', -1),
      moving('fees', 'grants', 1),
    ]) {
      await expect(ledger.transfer(wrong)).rejects.toThrow('not a transfer');
    }
  });

  it('is rolled back with its transaction', async () => {
    const [a, b] = await twoAccounts(10);
    const failed = site.app.get(UnitOfWork).run(async (tx) => {
      await ledger.transfer(moving({ userId: a }, { userId: b }, 4), tx);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await ledger.balance(a)).toBe(10);
  });

  it('of an unknown user is refused', async () => {
    await expect(ledger.transfer(moving('grants', { userId: 999_999_999 }, 1))).rejects.toThrow('no such account');
  });

  it('works between empty accounts in both directions concurrently', async () => {
    const ids = await createAccounts(sql, 4);
    const pairs = ids.flatMap((a) => ids.filter((b) => a !== b).map((b) => [a, b] as const));
    const work = pairs.map(([a, b]) =>
      ledger.transfer(moving({ userId: a }, { userId: b }, 1)).catch((error: unknown) => error),
    );
    for (const error of await Promise.all(work)) expect(error).toMatchObject({ code: 'INSUFFICIENT_POINTS' });
  });
});

describe('the tables themselves refuse', () => {
  const refused = (reason: string, statement: string): Promise<unknown> =>
    expect(sql.query(statement)).rejects.toThrow(reason);

  it('changes and removals of entries', async () => {
    await twoAccounts(1);
    for (const table of ['ledger_entries', 'ledger_transactions']) {
      const column = table === 'ledger_entries' ? 'amount' : 'ref';
      for (const statement of [
        `UPDATE ${table} SET ${column} = ${column}`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table} CASCADE`,
      ]) {
        await refused('never changed or removed', statement);
      }
    }
  });

  it('transactions that do not sum to zero, have no entries, or do not continue the previous ones', async () => {
    const [a] = await twoAccounts(5);
    const begun = `WITH t AS (INSERT INTO ledger_transactions (id, kind, ref)
      VALUES (gen_random_uuid(), 'grant', gen_random_uuid()::text) RETURNING id)`;
    const entry = (rows: string): string =>
      `${begun} INSERT INTO ledger_entries (transaction_id, position, user_id, system_account, amount, balance_after,
       account_version) SELECT t.id, rows.* FROM t, (VALUES ${rows}) AS rows`;
    await refused('has 0 entries', `${begun} SELECT * FROM t`);
    const granted = "(1, NULL::bigint, 'grants', -5, NULL::bigint, NULL::bigint)";
    await refused('has 1 entries', entry(granted));
    await refused('does not sum to zero', entry(`${granted}, (2, ${a}, NULL, 6, 11, 2)`));
    await refused('ledger_entries_position_check', entry(granted.replace('(1,', '(3,')));
    await refused('ledger_entries_pkey', entry(`${granted}, ${granted}`));
    await refused('does not continue', entry(`${granted}, (2, ${a}, NULL, 5, 11, 2)`));
    await refused('does not continue', entry(`${granted}, (2, ${a}, NULL, 5, 10, 3)`));
    // Balanced, and in no account.
    await refused('is at version 1, and its last entry at 2', entry(`${granted}, (2, ${a}, NULL, 5, 10, 2)`));
  });

  it('balances without an entry, below zero, or with a gap', async () => {
    const [a] = await twoAccounts(5);
    const update = (change: string): string => `UPDATE ledger_accounts SET ${change} WHERE user_id = ${a}`;
    await refused('its last entry at 1', update('balance = balance + 1, version = version + 1'));
    for (const change of ['balance = balance + 1', 'balance = 0, version = 0', 'balance = 5, version = 1']) {
      await refused('only grows', update(change));
    }
    await refused('ledger_accounts_balance_check', update('balance = -1, version = version + 1'));
  });

  it('the removal of accounts with entries, unlocks and events', async () => {
    const [a] = await twoAccounts(5);
    await refused('never removed', `DELETE FROM ledger_accounts WHERE user_id = ${a}`);
    for (const table of ['ledger_accounts', 'unlocks', 'audit_events']) {
      await refused('never changed or removed', `TRUNCATE ${table} CASCADE`);
    }
  });
});

describe('administrators', () => {
  it('add and deduct points, once for each ref, with a record', async () => {
    const grants = site.app.get(PointGrants);
    const [user, admin] = await twoAccounts(0);
    const ref = randomUUID();
    const grant = { userId: user, points: 20, ref, actorId: admin, note: 'for help' };
    expect(await grants.grant(grant)).toMatchObject({ moved: 20, toBalance: 20, replayed: false });
    expect(await grants.grant(grant)).toMatchObject({ toBalance: 20, replayed: true });
    expect(await grants.grant({ ...grant, ref: randomUUID(), points: -15 })).toMatchObject({ fromBalance: 5 });
    await expect(grants.grant({ ...grant, ref: randomUUID(), points: -6 })).rejects.toMatchObject({
      code: 'INSUFFICIENT_POINTS',
    });
    for (const points of [0, 1.5, Number.NaN, 2_000_000]) {
      await expect(grants.grant({ ...grant, points })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    const events = await sql.query(
      "SELECT actor_id, details FROM audit_events WHERE type = 'points.granted' AND user_id = $1 ORDER BY id",
      [user],
    );
    expect(events).toEqual([
      { actor_id: admin, details: { points: 20, note: 'for help' } },
      { actor_id: admin, details: { points: -15, note: 'for help' } },
    ]);
  });
});

describe('the fee for withdrawing a share', () => {
  it('is one point, charged once, and nothing if there are no points', async () => {
    const [rich] = await twoAccounts(5);
    const [poor] = await twoAccounts(0);
    const charge = (ownerId: number, shareId: number): Promise<number> =>
      site.app.get(UnitOfWork).run((tx) => site.app.get(ShareFees).chargeDeletion(tx, { shareId, ownerId }));
    const [first, second] = await createShares(sql, rich, { count: 2 });
    expect(await charge(rich, first?.id ?? 0)).toBe(1);
    expect(await charge(rich, first?.id ?? 0)).toBe(1);
    expect(await charge(poor, second?.id ?? 0)).toBe(0);
    expect([await ledger.balance(rich), await ledger.balance(poor)]).toEqual([4, 0]);
  });
});

type Command = fc.AsyncCommand<Model, { ids: number[] }>;
interface Model {
  balances: number[];
  done: Map<string, { from: number; to: number; amount: number; moved: number }>;
}

/** A transfer between two of some accounts, -1 being the system, with one of few refs, so that refs come again. */
class Move implements Command {
  constructor(
    readonly from: number,
    readonly to: number,
    readonly amount: number,
    readonly ref: string,
    readonly atMost: boolean,
  ) {}

  check(): boolean {
    return this.from !== this.to;
  }

  async run(model: Model, { ids }: { ids: number[] }): Promise<void> {
    const party = (index: number): LedgerParty => (index < 0 ? 'grants' : { userId: ids[index] ?? 0 });
    const transfer = moving(party(this.from), party(this.to), this.amount, {
      ref: `${ids[0]}-${this.ref}`,
      atMostBalance: this.atMost,
    });
    const result = await ledger.transfer(transfer).catch((error: { code: string }) => error.code);
    expect(typeof result === 'string' ? result : [result.moved, result.replayed]).toEqual(this.expected(model));
  }

  private expected(model: Model): string | [number, boolean] {
    const before = model.done.get(this.ref);
    const balance = this.from < 0 ? Infinity : (model.balances[this.from] ?? 0);
    const moved = this.atMost && this.from >= 0 ? Math.min(this.amount, balance) : this.amount;
    if (moved === 0 && before === undefined) return [0, false];
    if (before !== undefined) {
      const same = before.from === this.from && before.to === this.to;
      return same && (this.atMost || before.moved === this.amount) ? [before.moved, true] : 'CONFLICT';
    }
    if (balance < moved) return 'INSUFFICIENT_POINTS';
    if (this.from >= 0) model.balances[this.from] = balance - moved;
    if (this.to >= 0) model.balances[this.to] = (model.balances[this.to] ?? 0) + moved;
    model.done.set(this.ref, { from: this.from, to: this.to, amount: this.amount, moved });
    return [moved, false];
  }

  toString(): string {
    return `${this.from} -> ${this.to}: ${this.atMost ? 'up to ' : ''}${this.amount} as ${this.ref}`;
  }
}

it('the ledger matches a model for any sequence of transfers', async () => {
  const party = fc.integer({ min: -1, max: 2 });
  const move = fc
    .tuple(party, party, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 12 }).map(String), fc.boolean())
    .map((given) => new Move(...given));
  await fc.assert(
    fc.asyncProperty(fc.commands([move], { maxCommands: 40, size: '+1' }), async (commands) => {
      const ids = await createAccounts(sql, 3);
      for (const id of ids) await givePoints(sql, id, 10);
      const model: Model = { balances: [10, 10, 10], done: new Map() };
      await fc.asyncModelRun(() => ({ model, real: { ids } }), commands);
      expect(await Promise.all(ids.map((id) => ledger.balance(id)))).toEqual(model.balances);
    }),
    { numRuns: 25 },
  );
  expect(await auditBooks(sql)).toMatchObject(SOUND);
});
