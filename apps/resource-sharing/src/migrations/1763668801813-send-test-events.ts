import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What test calls do, for webhooks that want to know. */
export class SendTestEvents1763668801813 implements MigrationInterface {
  name = 'SendTestEvents1763668801813';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhooks ADD COLUMN test_events boolean NOT NULL DEFAULT false');
    await queryRunner.query('ALTER TABLE application_events ADD COLUMN is_test boolean NOT NULL DEFAULT false');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP VIEW IF EXISTS resource_sharing_test.application_events');
    await queryRunner.query('ALTER TABLE application_events DROP COLUMN is_test');
    await queryRunner.query('ALTER TABLE webhooks DROP COLUMN test_events');
  }
}
