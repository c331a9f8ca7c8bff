import { createDataKeyTable } from '@gatehouse/persistence';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateDataKeys1763668802450 implements MigrationInterface {
  name = 'CreateDataKeys1763668802450';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createDataKeyTable(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE data_keys');
  }
}
