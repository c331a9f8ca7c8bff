import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KeepPreferences1763668801730 implements MigrationInterface {
  name = 'KeepPreferences1763668801730';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Null: never chosen, so that the browser decides.
    await queryRunner.query(`ALTER TABLE site_accounts
      ADD COLUMN language text CONSTRAINT site_accounts_language_check CHECK (language IN ('en', 'zh-CN')),
      ADD COLUMN theme text CONSTRAINT site_accounts_theme_check CHECK (theme IN ('system', 'light', 'dark'))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE site_accounts DROP COLUMN theme, DROP COLUMN language');
  }
}
