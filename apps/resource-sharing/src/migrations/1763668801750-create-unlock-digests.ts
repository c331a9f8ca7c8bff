import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The days that have their digests of unlocks, and an index to find the unlocks of a day. */
export class CreateUnlockDigests1763668801750 implements MigrationInterface {
  name = 'CreateUnlockDigests1763668801750';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE unlock_digests (day date PRIMARY KEY)');
    // Unlocks are only added, in the order of time.
    await queryRunner.query('CREATE INDEX unlocks_time_idx ON unlocks USING brin (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX unlocks_time_idx');
    await queryRunner.query('DROP TABLE unlock_digests');
  }
}
