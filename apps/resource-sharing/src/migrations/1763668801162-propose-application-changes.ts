import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ProposeApplicationChanges1763668801162 implements MigrationInterface {
  name = 'ProposeApplicationChanges1763668801162';

  async up(queryRunner: QueryRunner): Promise<void> {
    // name, description, redirect_uris: those of them that wait for a review.
    await queryRunner.query(`ALTER TABLE applications ADD COLUMN proposed jsonb
      CONSTRAINT applications_proposed_check CHECK (jsonb_typeof(proposed) = 'object' AND proposed <> '{}')`);
    await queryRunner.query(
      'CREATE INDEX applications_proposed_idx ON applications (id DESC) WHERE proposed IS NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE applications DROP COLUMN proposed');
  }
}
