import type { AuditBreak, AuditBreakReason } from '@gatehouse/contracts';
import { runTraceably, UncertainCommitError, wasCommitted } from '@gatehouse/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { AuditChain, ChainHead } from './audit-chain.js';
import type { AuditEntry } from './audit-entry.js';
import { sealedFields, toRow } from './audit-row.js';
import type { AuditRow } from './audit-row.js';

interface HeadRow {
  first_id: number;
  anchor_hash: string;
  last_id: number;
  last_hash: string;
  seal: string;
}

export interface Verified {
  checked: number;
  head: ChainHead;
  broken: AuditBreak | null;
}

const LOCK_TIMEOUT_MS = 5_000;
const VERIFY_ROWS = 1_000;
const HEAD = 'SELECT first_id, anchor_hash, last_id, last_hash, seal FROM audit_chain WHERE id = 1';
export const AUDIT_COLUMNS =
  'id, created_at, actor_type, actor_id, actor_name, actor_user, ip, user_agent, request_id, method, path, action, resource_type, ' +
  'resource_id, resource_name, status, success, error, changes, duration_ms, prev_hash, hash';

/**
 * The log in the database. Every writer locks the head's row, so ids have no gaps and each row has the hash of the
 * previous one.
 */
export class AuditStore {
  /** Entries whose connection ended at the commit. */
  private uncertain: { entries: readonly AuditEntry[]; transactionId: string } | null = null;
  /** Those of them that turned out to be written; they may be submitted again more than once. */
  private readonly written = new WeakSet<AuditEntry>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChain,
    private readonly onHead: (head: ChainHead) => void = () => undefined,
  ) {}

  /**
   * Writes all of the entries in order, or none. An entry that is submitted again after a connection ended at its
   * commit is written once.
   */
  async append(entries: readonly AuditEntry[]): Promise<void> {
    const left = await this.withoutWritten(entries);
    if (left.length === 0) return;
    try {
      await this.write(async (tx) => ({ head: await this.appendIn(tx, left), result: undefined }));
    } catch (error) {
      if (error instanceof UncertainCommitError) {
        this.uncertain = { entries: left, transactionId: error.transactionId };
      }
      throw error;
    }
  }

  private async withoutWritten(entries: readonly AuditEntry[]): Promise<readonly AuditEntry[]> {
    if (this.uncertain !== null) {
      const { entries: before, transactionId } = this.uncertain;
      const committed = await wasCommitted(this.dataSource, transactionId);
      if (committed === undefined) throw new Error('The former batch of audit entries is still being committed');
      this.uncertain = null;
      if (committed) {
        for (const entry of before) this.written.add(entry);
        this.onHead(await this.head());
      }
    }
    return entries.filter((entry) => !this.written.has(entry));
  }

  /**
   * Writes entries that `take` removes from another place in the same transaction: afterwards all of them are in the
   * log, or still in their old place.
   */
  appendTaken(take: (tx: EntityManager) => Promise<readonly AuditEntry[]>): Promise<number> {
    return this.write(async (tx) => {
      const entries = await take(tx);
      return { head: entries.length === 0 ? null : await this.appendIn(tx, entries), result: entries.length };
    });
  }

  /** The current ends of the chain, whether this service wrote them or not. */
  async head(): Promise<ChainHead> {
    return (await this.readHead(this.dataSource.manager, HEAD)).head;
  }

  /** Hashes of existing rows. */
  async hashesOf(ids: readonly number[]): Promise<Map<number, string>> {
    const rows: { id: number; hash: string }[] = await this.dataSource.query(
      'SELECT id, hash FROM audit_logs WHERE id = ANY ($1::bigint[])',
      [ids],
    );
    return new Map(rows.map(({ id, hash }) => [id, hash]));
  }

  /** Deletes older rows, only from the beginning; the hash of the last deleted row stays as the anchor. */
  prune(before: Date, remark: (removed: number) => AuditEntry): Promise<number> {
    return this.write(async (tx) => {
      const { head } = await this.lockHead(tx);
      const [end]: { id: number; hash: string }[] = await tx.query(
        `SELECT id, hash FROM audit_logs WHERE id < coalesce(
           (SELECT min(id) FROM audit_logs WHERE created_at >= $1), $2) ORDER BY id DESC LIMIT 1`,
        [before, head.lastId + 1],
      );
      if (end === undefined) return { head: null, result: 0 };
      const [, removed]: [unknown, number] = await tx.query('DELETE FROM audit_logs WHERE id <= $1', [end.id]);
      await this.writeHead(tx, { ...head, firstId: end.id + 1, anchorHash: end.hash });
      return { head: await this.appendIn(tx, [remark(removed)]), result: removed };
    });
  }

  /** Reads the whole chain at one moment. */
  verify(): Promise<Verified> {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const { head, intact } = await this.readHead(tx, HEAD);
      let previous = { id: head.firstId - 1, hash: head.anchorHash };
      let checked = 0;
      for (;;) {
        const rows: AuditRow[] = await tx.query(
          `SELECT ${AUDIT_COLUMNS} FROM audit_logs WHERE id > $1 ORDER BY id LIMIT ${VERIFY_ROWS}`,
          [checked === 0 ? Number.MIN_SAFE_INTEGER : previous.id],
        );
        for (const row of rows) {
          checked++;
          const reason = this.problem(row, previous);
          if (reason !== null) return { checked, head, broken: { id: missingOr(reason, row, previous), reason } };
          previous = { id: row.id, hash: row.hash };
        }
        if (rows.length < VERIFY_ROWS) break;
      }
      if (!intact) return { checked, head, broken: { id: head.lastId, reason: 'head_changed' } };
      const complete = previous.id === head.lastId && previous.hash === head.lastHash;
      return { checked, head, broken: complete ? null : { id: previous.id + 1, reason: 'end_missing' } };
    });
  }

  private problem(row: AuditRow, previous: { id: number; hash: string }): AuditBreakReason | null {
    const own = this.chain.hashRow(sealedFields(row)) === row.hash;
    if (row.id !== previous.id + 1) return own ? 'row_missing' : 'order_changed';
    if (!own) return 'row_changed';
    return row.prev_hash === previous.hash ? null : 'order_changed';
  }

  /** The witness gets the head after the commit, because the row may be rolled back before. */
  private async write<T>(work: (tx: EntityManager) => Promise<{ head: ChainHead | null; result: T }>): Promise<T> {
    const { head, result } = await runTraceably(this.dataSource, work);
    if (head !== null) this.onHead(head);
    return result;
  }

  private async appendIn(tx: EntityManager, entries: readonly AuditEntry[]): Promise<ChainHead> {
    const { head } = await this.lockHead(tx);
    const rows: AuditRow[] = [];
    for (const entry of entries) {
      const row = toRow(entry, ++head.lastId, head.lastHash);
      head.lastHash = this.chain.hashRow(sealedFields(row));
      rows.push({ ...row, hash: head.lastHash });
    }
    await tx.query(
      `INSERT INTO audit_logs (${AUDIT_COLUMNS})
       SELECT ${AUDIT_COLUMNS} FROM jsonb_populate_recordset(NULL::audit_logs, $1::jsonb)`,
      [JSON.stringify(rows)],
    );
    await this.writeHead(tx, head);
    return head;
  }

  /** A changed head is continued as it is: verify() reports it, and the log continues. */
  private async lockHead(tx: EntityManager): Promise<{ head: ChainHead; intact: boolean }> {
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    return this.readHead(tx, `${HEAD} FOR UPDATE`);
  }

  private async readHead(tx: EntityManager, sql: string): Promise<{ head: ChainHead; intact: boolean }> {
    const [row]: HeadRow[] = await tx.query(sql);
    if (row === undefined) throw new Error('The audit log has lost its head: the row of audit_chain is gone');
    const head = {
      firstId: row.first_id,
      anchorHash: row.anchor_hash,
      lastId: row.last_id,
      lastHash: row.last_hash,
    };
    const untouched = row.last_id === 0 && row.seal === '';
    return { head, intact: untouched || row.seal === this.chain.hashHead(head) };
  }

  private async writeHead(tx: EntityManager, head: ChainHead): Promise<void> {
    await tx.query(
      'UPDATE audit_chain SET first_id = $1, anchor_hash = $2, last_id = $3, last_hash = $4, seal = $5 WHERE id = 1',
      [head.firstId, head.anchorHash, head.lastId, head.lastHash, this.chain.hashHead(head)],
    );
  }
}

/** Reports the first missing id of a gap. */
function missingOr(reason: AuditBreakReason, row: AuditRow, previous: { id: number }): number {
  return reason === 'row_missing' ? previous.id + 1 : row.id;
}
