import { createThrottleTable, dropThrottleTable } from '@gatehouse/platform';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DescribeSessions1763668801140 implements MigrationInterface {
  name = 'DescribeSessions1763668801140';

  async up(queryRunner: QueryRunner): Promise<void> {
    // What people tell their sessions apart by.
    await queryRunner.query('ALTER TABLE sessions ADD COLUMN ip text, ADD COLUMN user_agent text');
    // Registrations are counted by address, on every replica.
    await createThrottleTable(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropThrottleTable(queryRunner);
    await queryRunner.query('ALTER TABLE sessions DROP COLUMN user_agent, DROP COLUMN ip');
  }
}
