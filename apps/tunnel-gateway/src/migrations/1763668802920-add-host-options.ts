import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.host_options';

/** Paths for targets, sticky visitors, limits of bodies and error pages. `data/sql/config-revision.sql` announces changes to edges. */
export class AddHostOptions1763668802920 implements MigrationInterface {
  name = 'AddHostOptions1763668802920';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS}
       ADD COLUMN rewrite_path text,
       ADD COLUMN sticky boolean NOT NULL DEFAULT false,
       ADD COLUMN error_page text,
       ADD COLUMN max_body_bytes bigint NOT NULL DEFAULT 0
       CONSTRAINT host_options_max_body_bytes_check CHECK (max_body_bytes >= 0)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The trigger names the columns; as it was before.
    await queryRunner.query(`DROP TRIGGER IF EXISTS host_options_revision ON ${OPTIONS}`);
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS} DROP COLUMN rewrite_path, DROP COLUMN sticky, DROP COLUMN error_page, DROP COLUMN max_body_bytes`,
    );
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER host_options_revision
       AFTER INSERT OR DELETE OR UPDATE OF rewrite_host, request_headers, response_headers, strict_path, record_requests
       ON ${OPTIONS} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
