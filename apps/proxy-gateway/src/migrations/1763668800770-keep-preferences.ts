import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How the administrator likes the console. */
export class KeepPreferences1763668800770 implements MigrationInterface {
  name = 'KeepPreferences1763668800770';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE administrators
        ADD COLUMN language text CONSTRAINT administrators_language_check CHECK (language IN ('en', 'zh-CN')),
        ADD COLUMN theme text CONSTRAINT administrators_theme_check CHECK (theme IN ('system', 'light', 'dark'))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE administrators DROP COLUMN theme, DROP COLUMN language');
  }
}
