import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateJobCancellations1763668800301 implements MigrationInterface {
  name = 'CreateJobCancellations1763668800301';

  async up(queryRunner: QueryRunner): Promise<void> {
    // What was asked for outlives a worker that is not there to hear of it.
    await queryRunner.query(`
      CREATE TABLE job_cancellations (
        job_id text PRIMARY KEY,
        requested_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE job_cancellations');
  }
}
