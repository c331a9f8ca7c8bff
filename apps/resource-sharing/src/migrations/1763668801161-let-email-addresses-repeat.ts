import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LetEmailAddressesRepeat1763668801161 implements MigrationInterface {
  name = 'LetEmailAddressesRepeat1763668801161';

  /** Nobody verifies them and nothing is decided by them: being unique, they only told who has an account. */
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX site_accounts_email_key');
  }

  /** Of those who share an address the first keeps it. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`UPDATE site_accounts a SET email = NULL
      WHERE EXISTS (SELECT FROM site_accounts b WHERE lower(b.email) = lower(a.email) AND b.id < a.id)`);
    await queryRunner.query('CREATE UNIQUE INDEX site_accounts_email_key ON site_accounts (lower(email))');
  }
}
