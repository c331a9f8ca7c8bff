import type { EntityManager } from 'typeorm';

/** One change of names at a time, so that a free name stays free until it is stored. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.hosts'))`;

/** Blocks new hosts and changes of names' owners until the transaction ends. */
export async function lockNames(tx: EntityManager): Promise<void> {
  await tx.query(LOCK);
}
