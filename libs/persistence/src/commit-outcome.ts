import type { DataSource, EntityManager } from 'typeorm';
import { sqlStateOf } from '@gatehouse/postgres';

/** What the server says about itself while it stops: what it was doing may be done. */
const STOPPING = /^(?:08|57P)/;

/** The connection ended at the COMMIT: whether it was carried out is not known here, but `wasCommitted` can ask. */
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
 * Runs the work in a transaction whose outcome can be found out afterwards, for work that may not be done twice.
 * @throws UncertainCommitError when the connection ended while it was committed; any other error means that nothing was.
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

/** Whether a transaction was carried out; undefined while the server is still at it. */
export async function wasCommitted(dataSource: DataSource, transactionId: string): Promise<boolean | undefined> {
  const [row] = await dataSource.query<{ status: string | null }[]>('SELECT pg_xact_status($1::xid8) AS status', [
    transactionId,
  ]);
  if (row?.status === 'in progress') return undefined;
  return row?.status === 'committed';
}
