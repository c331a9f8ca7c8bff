import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Test calls in the error log of an application, apart from the others. */
export class MarkTestCalls1763668801812 implements MigrationInterface {
  name = 'MarkTestCalls1763668801812';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE refused_calls ADD COLUMN is_test boolean NOT NULL DEFAULT false');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE refused_calls DROP COLUMN is_test');
  }
}
