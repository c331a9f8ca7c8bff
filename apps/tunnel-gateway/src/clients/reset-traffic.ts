import type { EntityManager } from 'typeorm';

/**
 * In the order in which batches hold them, so that neither has to give way to the other: what a batch adds is in the totals
 * before they become zero, or after.
 */
const HOLD = ['tunnels', 'hosts'].map(
  (table) => `SELECT id FROM tunnel_gateway.${table} WHERE client_id = $1 ORDER BY id FOR NO KEY UPDATE`,
);

const ZERO = 'SET inlet_flow = 0, export_flow = 0';
const RESET = [
  `UPDATE tunnel_gateway.clients ${ZERO} WHERE id = $1`,
  `UPDATE tunnel_gateway.tunnels ${ZERO} WHERE client_id = $1`,
  `UPDATE tunnel_gateway.hosts ${ZERO} WHERE client_id = $1`,
  `UPDATE tunnel_gateway.flow_stats SET inlet_bytes = 0, export_bytes = 0, updated_at = now()
   WHERE (resource_type = 'client' AND resource_id = $1)
     OR (resource_type = 'tunnel' AND resource_id IN (SELECT id FROM tunnel_gateway.tunnels WHERE client_id = $1))
     OR (resource_type = 'host' AND resource_id IN (SELECT id FROM tunnel_gateway.hosts WHERE client_id = $1))`,
];

/**
 * The totals of a client, which the transaction has locked, and of its tunnels and hosts start from zero. What was carried by
 * time, and the totals of its owner and of everybody, stay as they are.
 */
export async function resetTraffic(clientId: number, tx: EntityManager): Promise<void> {
  for (const sql of [...HOLD, ...RESET]) await tx.query(sql, [clientId]);
}
