import type { EntityManager } from 'typeorm';

/**
 * Whoever writes several nodes in one transaction holds them first, in the order of their ids: two of them cannot wait for
 * each other.
 */
export async function holdNodes(tx: EntityManager, ids: readonly number[]): Promise<void> {
  await tx.query('SELECT id FROM nodes WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
}
