import { createJobOutboxTable, dropJobOutboxTable } from '@gatehouse/jobs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateJobOutbox1763668800311 implements MigrationInterface {
  name = 'CreateJobOutbox1763668800311';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createJobOutboxTable(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropJobOutboxTable(queryRunner);
  }
}
