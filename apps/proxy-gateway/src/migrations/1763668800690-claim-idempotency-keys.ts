import { addIdempotencyClaims, dropIdempotencyClaims } from '@gatehouse/auth';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ClaimIdempotencyKeys1763668800690 implements MigrationInterface {
  name = 'ClaimIdempotencyKeys1763668800690';

  async up(queryRunner: QueryRunner): Promise<void> {
    await addIdempotencyClaims(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropIdempotencyClaims(queryRunner);
  }
}
