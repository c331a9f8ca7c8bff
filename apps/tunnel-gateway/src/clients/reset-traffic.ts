import type { EntityManager } from 'typeorm';

/**
 * Locks rows in the same order as batches of counters, to avoid deadlocks: what a batch adds is in the totals before
 * they become zero, or after.
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
 * Resets the totals of a client, which the transaction has locked, and of its tunnels and hosts. The history, and the
 * totals of its owner and of the gateway, do not change.
 */
export async function resetTraffic(clientId: number, tx: EntityManager): Promise<void> {
  for (const sql of [...HOLD, ...RESET]) await tx.query(sql, [clientId]);
}
