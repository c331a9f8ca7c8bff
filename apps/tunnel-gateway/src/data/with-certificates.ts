import type { EntityManager } from 'typeorm';

/** Which of these hosts have a certificate that was uploaded or ordered. */
export async function withCertificates(manager: EntityManager, hostIds: readonly number[]): Promise<Set<number>> {
  if (hostIds.length === 0) return new Set();
  const sql = 'SELECT host_id::float8 AS id FROM tunnel_gateway_ops.certificates WHERE host_id = ANY($1)';
  const rows: { id: number }[] = await manager.query(sql, [[...hostIds]]);
  return new Set(rows.map(({ id }) => id));
}
