import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['flow_minutes', 'flow_hours', 'flow_days'];

/** What was carried by minute, hour and day, and which batches are in there already. */
export class CreateFlowBuckets1763668802130 implements MigrationInterface {
  name = 'CreateFlowBuckets1763668802130';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await queryRunner.query(`
        CREATE TABLE tunnel_gateway_ops.${table} (
          resource_type text NOT NULL,
          resource_id bigint NOT NULL,
          starts_at timestamptz NOT NULL,
          inlet_bytes bigint NOT NULL,
          export_bytes bigint NOT NULL,
          connections bigint NOT NULL,
          PRIMARY KEY (resource_type, resource_id, starts_at)
        )`);
      await queryRunner.query(`CREATE INDEX ${table}_starts_at_idx ON tunnel_gateway_ops.${table} (starts_at)`);
    }
    await queryRunner.query(
      'ALTER TABLE tunnel_gateway_ops.flow_batches ADD COLUMN rolled_up boolean NOT NULL DEFAULT false',
    );
    await queryRunner.query(
      'CREATE INDEX flow_batches_waiting_idx ON tunnel_gateway_ops.flow_batches (taken_at) WHERE NOT rolled_up',
    );
    await queryRunner.query('CREATE INDEX flow_batches_applied_at_idx ON tunnel_gateway_ops.flow_batches (applied_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX tunnel_gateway_ops.flow_batches_applied_at_idx');
    await queryRunner.query('ALTER TABLE tunnel_gateway_ops.flow_batches DROP COLUMN rolled_up');
    for (const table of TABLES) await queryRunner.query(`DROP TABLE tunnel_gateway_ops.${table}`);
  }
}
