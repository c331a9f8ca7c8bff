import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The log is the same for all services, and elsewhere API keys belong to users. */
export class NameUsersOfAuditedKeys1763668800400 implements MigrationInterface {
  name = 'NameUsersOfAuditedKeys1763668800400';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE audit_logs ADD COLUMN actor_user text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE audit_logs DROP COLUMN actor_user');
  }
}
