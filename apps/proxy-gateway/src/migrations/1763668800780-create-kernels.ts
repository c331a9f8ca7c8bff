import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The kernels that services drive, and which of them carried a flow. */
export class CreateKernels1763668800780 implements MigrationInterface {
  name = 'CreateKernels1763668800780';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE kernels (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        version text NOT NULL,
        public_host text,
        state text NOT NULL CONSTRAINT kernels_state_check CHECK (state IN ('serving', 'draining', 'waiting')),
        generation integer NOT NULL,
        revision text,
        connections integer NOT NULL,
        upload_speed bigint NOT NULL,
        download_speed bigint NOT NULL,
        loop_delay_ms real NOT NULL,
        started_at timestamptz NOT NULL,
        lease_until timestamptz NOT NULL
      )`);
    await queryRunner.query('ALTER TABLE traffic_logs ADD COLUMN kernel text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE traffic_logs DROP COLUMN kernel');
    await queryRunner.query('DROP TABLE kernels');
  }
}
