import { MAX_COUNT } from '@gatehouse/net';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  'tunnel_gateway.flow_stats': ['inlet_bytes', 'export_bytes'],
  'tunnel_gateway.clients': ['inlet_flow', 'export_flow'],
  'tunnel_gateway.tunnels': ['inlet_flow', 'export_flow'],
  'tunnel_gateway.hosts': ['inlet_flow', 'export_flow'],
  'tunnel_gateway.request_ips': ['hit_count'],
  'tunnel_gateway_ops.flow_minutes': ['inlet_bytes', 'export_bytes', 'connections'],
  'tunnel_gateway_ops.flow_hours': ['inlet_bytes', 'export_bytes', 'connections'],
  'tunnel_gateway_ops.flow_days': ['inlet_bytes', 'export_bytes', 'connections'],
};

/** Counters that agents could drive beyond what numbers hold exactly come back to the largest that they hold. */
export class BoundCounters1763668802691 implements MigrationInterface {
  name = 'BoundCounters1763668802691';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, columns] of Object.entries(COUNTERS)) {
      const bounded = columns.map((column) => `${column} = least(${column}, ${MAX_COUNT})`).join(', ');
      const beyond = columns.map((column) => `${column} > ${MAX_COUNT}`).join(' OR ');
      await queryRunner.query(`UPDATE ${table} SET ${bounded} WHERE ${beyond}`);
    }
  }

  async down(): Promise<void> {
    // What they were before meant nothing.
  }
}
