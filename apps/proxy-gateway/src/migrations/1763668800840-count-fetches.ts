import { createThrottleTable, dropThrottleTable } from '@gatehouse/platform';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replicas count the fetches of a publication together. */
export class CountFetches1763668800840 implements MigrationInterface {
  name = 'CountFetches1763668800840';
  readonly oldestRelease = '0.1.0';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createThrottleTable(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropThrottleTable(queryRunner);
  }
}
