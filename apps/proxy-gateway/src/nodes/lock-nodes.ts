import type { EntityManager } from 'typeorm';

/**
 * Locks nodes in the order of their ids. Transactions that write several nodes call this first, so that two of them
 * cannot deadlock.
 */
export async function lockNodes(tx: EntityManager, ids: readonly number[]): Promise<void> {
  await tx.query('SELECT id FROM nodes WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
}
