import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How much traffic users, clients and tunnels may have, and what they have had. */
export class CreateTrafficQuotas1763668803000 implements MigrationInterface {
  name = 'CreateTrafficQuotas1763668803000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tunnel_gateway_ops.traffic_quotas (
        resource_type text CONSTRAINT traffic_quotas_resource_type_check
          CHECK (resource_type IN ('user', 'client', 'tunnel')),
        resource_id bigint,
        bytes bigint NOT NULL CONSTRAINT traffic_quotas_bytes_check CHECK (bytes > 0),
        period text NOT NULL DEFAULT 'total' CONSTRAINT traffic_quotas_period_check
          CHECK (period IN ('total', 'day', 'month')),
        used bigint NOT NULL DEFAULT 0 CONSTRAINT traffic_quotas_used_check CHECK (used >= 0),
        counted_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT traffic_quotas_pkey PRIMARY KEY (resource_type, resource_id)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.traffic_quotas');
  }
}
