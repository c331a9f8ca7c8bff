import type { DataSource, EntityManager } from 'typeorm';
import { sqlStateOf } from '@gatehouse/postgres';

/** Errors of a server that is stopping: the current statement may have been executed. */
const STOPPING = /^(?:08|57P)/;

/** The connection ended at the COMMIT: its outcome is not known here, but `wasCommitted` can ask. */
export class UncertainCommitError extends Error {
  override readonly name = 'UncertainCommitError';

  constructor(
    readonly transactionId: string,
    cause: unknown,
  ) {
    super('The connection ended at the commit', { cause });
  }
}

/**
 * Runs the work in a transaction whose outcome can be determined afterwards, for work that must not be done twice.
 * @throws UncertainCommitError if the connection ended during the commit; after any other error nothing was committed.
 */
export async function runTraceably<T>(dataSource: DataSource, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  let id: string | undefined;
  try {
    return await dataSource.transaction(async (tx) => {
      const result = await work(tx);
      const [row] = await tx.query<{ id: string }[]>('SELECT pg_current_xact_id()::text AS id');
      id = row?.id;
      return result;
    });
  } catch (error) {
    const state = sqlStateOf(error);
    if (id === undefined || (state !== '' && !STOPPING.test(state))) throw error;
    throw new UncertainCommitError(id, error);
  }
}

/** Whether a transaction was committed; undefined while it is still running. */
export async function wasCommitted(dataSource: DataSource, transactionId: string): Promise<boolean | undefined> {
  const [row] = await dataSource.query<{ status: string | null }[]>('SELECT pg_xact_status($1::xid8) AS status', [
    transactionId,
  ]);
  if (row?.status === 'in progress') return undefined;
  return row?.status === 'committed';
}
