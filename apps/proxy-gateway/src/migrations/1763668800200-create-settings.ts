import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSettings1763668800200 implements MigrationInterface {
  name = 'CreateSettings1763668800200';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE settings (
        key text PRIMARY KEY,
        value text NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE settings');
  }
}
