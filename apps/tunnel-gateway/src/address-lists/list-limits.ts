import type { EntityManager } from 'typeorm';

/** Every edge keeps all of them in memory. */
export const MAX_LISTS = 20;
/** Minutes. */
export const DEFAULT_INTERVAL = 1_440;

const ONE_AT_A_TIME = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.address_lists'))`;

/** Lists are added and deleted one at a time. */
export async function lockAddressLists(tx: EntityManager): Promise<void> {
  await tx.query(ONE_AT_A_TIME);
}
