import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which records of a kernel's run are written: one that comes again after a kill is not counted twice. */
export class CreateAccountingSpools1763668800750 implements MigrationInterface {
  name = 'CreateAccountingSpools1763668800750';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE accounting_spools (
        id uuid PRIMARY KEY,
        stored int8multirange NOT NULL,
        updated_at timestamptz(3) NOT NULL
      )`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE accounting_spools');
  }
}
