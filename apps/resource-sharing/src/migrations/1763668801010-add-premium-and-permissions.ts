import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddPremiumAndPermissions1763668801010 implements MigrationInterface {
  name = 'AddPremiumAndPermissions1763668801010';

  async up(queryRunner: QueryRunner): Promise<void> {
    // More than twenty years ahead stands for "for ever".
    await queryRunner.query(`
      ALTER TABLE site_accounts
        ADD COLUMN premium_until timestamptz,
        ADD COLUMN permissions text[] NOT NULL DEFAULT '{}',
        ADD COLUMN last_active_at timestamptz`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE site_accounts
        DROP COLUMN last_active_at, DROP COLUMN permissions, DROP COLUMN premium_until`);
  }
}
