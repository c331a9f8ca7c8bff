import type { EntityManager } from 'typeorm';

/** The ids of those hosts that have an uploaded or ordered certificate. */
export async function withCertificates(manager: EntityManager, hostIds: readonly number[]): Promise<Set<number>> {
  if (hostIds.length === 0) return new Set();
  const sql = 'SELECT host_id::float8 AS id FROM tunnel_gateway_ops.certificates WHERE host_id = ANY($1)';
  const rows: { id: number }[] = await manager.query(sql, [[...hostIds]]);
  return new Set(rows.map(({ id }) => id));
}
