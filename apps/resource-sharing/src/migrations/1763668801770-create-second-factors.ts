import { createSecondFactorTables, dropSecondFactorTables } from '@gatehouse/auth';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Codes of authenticator apps beside passwords. */
export class CreateSecondFactors1763668801770 implements MigrationInterface {
  name = 'CreateSecondFactors1763668801770';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createSecondFactorTables(queryRunner, 'site_accounts');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropSecondFactorTables(queryRunner);
  }
}
