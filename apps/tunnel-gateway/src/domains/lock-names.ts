import type { EntityManager } from 'typeorm';

/** One change of names at a time: what is free when it is looked at is free when it is taken. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.hosts'))`;

/** Nobody else makes hosts, or gives names to users, before the transaction ends. */
export async function lockNames(tx: EntityManager): Promise<void> {
  await tx.query(LOCK);
}
