import { AppError } from '@gatehouse/platform';
import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { PointMetrics, type TransferKind } from './point-metrics.js';
import { runStatement, type Statement } from './run-statement.js';

/** The service's own side of a transfer; it has no balance and no limit. */
export type SystemAccount = 'grants' | 'check_ins' | 'fees';

export type LedgerParty = { readonly userId: number } | SystemAccount;

export interface Transfer {
  readonly kind: TransferKind;
  /** Unique within its kind: the same transfer again moves nothing. */
  readonly ref: string;
  readonly from: LedgerParty;
  readonly to: LedgerParty;
  /** Whole points, more than 0. */
  readonly amount: number;
  /** Takes what there is if the payer has less. */
  readonly atMostBalance?: boolean;
  /** The user who caused it, if it was neither party. */
  readonly actorId?: number | null;
  readonly note?: string | null;
}

export interface TransferResult {
  /** Null if there was nothing to move. */
  readonly transactionId: string | null;
  readonly moved: number;
  /** Balances afterwards; null for a system account. */
  readonly fromBalance: number | null;
  readonly toBalance: number | null;
  /** True if it was done earlier. */
  readonly replayed: boolean;
}

/** One movement of an account, for its user. */
export interface LedgerLine {
  readonly version: number;
  readonly kind: TransferKind;
  readonly ref: string;
  readonly amount: number;
  readonly balanceAfter: number;
  readonly note: string | null;
  readonly at: Date;
}

interface TransferRow {
  transaction_id: string | null;
  moved: number;
  from_balance: number | null;
  to_balance: number | null;
  replayed: boolean;
}

interface LineRow {
  version: number;
  kind: TransferKind;
  ref: string;
  amount: number;
  balance_after: number;
  note: string | null;
  created_at: Date;
}

const TRANSFER: Statement = {
  name: 'ledger_transfer',
  text: 'SELECT * FROM ledger_transfer($1, $2, $3, $4, $5, $6, $7, $8, $9)',
};

const HISTORY: Statement = {
  name: 'ledger_history',
  text: `SELECT e.account_version AS version, t.kind, t.ref, e.amount, e.balance_after, t.note, t.created_at
    FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
    WHERE e.user_id = $1 AND e.account_version < $2 ORDER BY e.account_version DESC LIMIT $3`,
};

/**
 * Double-entry ledger of points: every transfer deducts from one account what it adds to another, in one round trip.
 */
@Injectable()
export class PointsLedger {
  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: PointMetrics,
  ) {}

  /**
   * Moves points, in `tx` or in its own transaction.
   * @throws INSUFFICIENT_POINTS if the payer has too few, and CONFLICT if kind and ref belong to another transfer;
   * either ends `tx`.
   */
  async transfer(transfer: Transfer, tx?: EntityManager): Promise<TransferResult> {
    const { kind, ref, from, to, amount } = transfer;
    const system = typeof from === 'string' ? from : typeof to === 'string' ? to : null;
    const { atMostBalance = false, actorId = null, note = null } = transfer;
    const values = [kind, ref, userOf(from), userOf(to), system, amount, atMostBalance, actorId, note];
    const [row] = await explainingRefusals(runStatement<TransferRow>(this.dataSource, tx, TRANSFER, values));
    if (row === undefined) throw new Error('a transfer answered nothing');
    if (!row.replayed) this.metrics.moved(kind, row.moved);
    return {
      transactionId: row.transaction_id,
      moved: row.moved,
      fromBalance: row.from_balance,
      toBalance: row.to_balance,
      replayed: row.replayed,
    };
  }

  /** 0 for a user without an account. */
  async balance(userId: number): Promise<number> {
    const { rows } = await pgPool(this.dataSource).query<{ balance: number }>({
      name: 'ledger_balance',
      text: 'SELECT balance FROM ledger_accounts WHERE user_id = $1',
      values: [userId],
    });
    return rows[0]?.balance ?? 0;
  }

  /** Newest first; `before`: the version of the last line that was read. */
  async history(
    userId: number,
    { before, limit = 50 }: { before?: number; limit?: number } = {},
  ): Promise<LedgerLine[]> {
    const values = [userId, before ?? Number.MAX_SAFE_INTEGER, limit];
    const rows = await runStatement<LineRow>(this.dataSource, undefined, HISTORY, values);
    return rows.map(({ balance_after: balanceAfter, created_at: at, ...rest }) => ({ ...rest, balanceAfter, at }));
  }
}

/** Turns refusals of the ledger's functions into errors for people. */
export async function explainingRefusals<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'GL402') throw new AppError('INSUFFICIENT_POINTS', undefined, { cause: error });
    if (code === 'GL409')
      throw new AppError('CONFLICT', 'This ref was already used for a different change of points', { cause: error });
    throw error;
  }
}

const userOf = (party: LedgerParty): number | null => (typeof party === 'string' ? null : party.userId);
