import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.host_options';

/** Locations whose other spellings are refused. */
export class AddStrictPaths1763668802470 implements MigrationInterface {
  name = 'AddStrictPaths1763668802470';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE ${OPTIONS} ADD COLUMN strict_path boolean NOT NULL DEFAULT false`);
    await this.watch(queryRunner, 'rewrite_host, request_headers, response_headers, strict_path');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await this.watch(queryRunner, 'rewrite_host, request_headers, response_headers');
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN strict_path`);
  }

  /** A change of these columns is news to edges. */
  private async watch(queryRunner: QueryRunner, columns: string): Promise<void> {
    await queryRunner.query(`DROP TRIGGER host_options_revision ON ${OPTIONS}`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER host_options_revision AFTER INSERT OR DELETE OR UPDATE OF ${columns} ON ${OPTIONS}
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
