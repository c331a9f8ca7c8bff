import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.client_options';

/** The key that a client had before, which lets its agent in until the grace period of the rotation is over. */
export class KeepPreviousKeys1763668802710 implements MigrationInterface {
  name = 'KeepPreviousKeys1763668802710';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS} ADD COLUMN previous_verify_key text, ADD COLUMN previous_key_until timestamptz,
        ADD CONSTRAINT client_options_previous_key_check
          CHECK ((previous_verify_key IS NULL) = (previous_key_until IS NULL))`,
    );
    await queryRunner.query(
      `CREATE INDEX client_options_previous_key_idx ON ${OPTIONS} (previous_verify_key)
       WHERE previous_verify_key IS NOT NULL`,
    );
    await this.watch(queryRunner, 'encrypt, previous_verify_key, previous_key_until');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await this.watch(queryRunner, 'encrypt');
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN previous_verify_key, DROP COLUMN previous_key_until`);
  }

  /** A change of these columns is news to edges. */
  private async watch(queryRunner: QueryRunner, columns: string): Promise<void> {
    await queryRunner.query(`DROP TRIGGER client_options_revision ON ${OPTIONS}`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER client_options_revision AFTER INSERT OR DELETE OR UPDATE OF ${columns} ON ${OPTIONS}
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
