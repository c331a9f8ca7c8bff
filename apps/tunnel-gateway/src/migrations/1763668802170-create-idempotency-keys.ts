import { createIdempotencyTable } from '@gatehouse/auth';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyKeys1763668802170 implements MigrationInterface {
  name = 'CreateIdempotencyKeys1763668802170';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIdempotencyTable(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE idempotency_keys');
  }
}
