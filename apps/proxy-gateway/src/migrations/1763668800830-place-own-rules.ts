import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rules that were made here may stand behind those of the profile. */
export class PlaceOwnRules1763668800830 implements MigrationInterface {
  name = 'PlaceOwnRules1763668800830';
  readonly oldestRelease = '0.1.0';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE rules ADD COLUMN after_profile boolean NOT NULL DEFAULT false');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE rules DROP COLUMN after_profile');
  }
}
