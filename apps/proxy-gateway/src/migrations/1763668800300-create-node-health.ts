import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateNodeHealth1763668800300 implements MigrationInterface {
  name = 'CreateNodeHealth1763668800300';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE nodes
        ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
        ADD COLUMN exit_ip text,
        ADD COLUMN exit_country text,
        ADD COLUMN exit_asn bigint,
        ADD COLUMN exit_checked_at timestamptz,
        ADD COLUMN circuit_open_since timestamptz`);
    // `test_url` is empty for the general address (the setting health.url): changing it keeps what is known of nodes.
    // `failure_count` counts since the last success; `delay_history` holds the last measurements, the newest last.
    await queryRunner.query(`
      CREATE TABLE node_health (
        node_id bigint NOT NULL CONSTRAINT node_health_node_fk REFERENCES nodes (id) ON DELETE CASCADE,
        test_url text NOT NULL,
        alive boolean NOT NULL,
        delay_ms integer,
        http_status integer,
        last_tested_at timestamptz NOT NULL,
        error_code text,
        error_message text,
        failure_count integer NOT NULL DEFAULT 0,
        tests bigint NOT NULL DEFAULT 0,
        successes bigint NOT NULL DEFAULT 0,
        delay_history jsonb NOT NULL DEFAULT '[]',
        job_id text,
        PRIMARY KEY (node_id, test_url)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE node_health');
    await queryRunner.query(`
      ALTER TABLE nodes DROP COLUMN tags, DROP COLUMN exit_ip, DROP COLUMN exit_country, DROP COLUMN exit_asn,
        DROP COLUMN exit_checked_at, DROP COLUMN circuit_open_since`);
  }
}
