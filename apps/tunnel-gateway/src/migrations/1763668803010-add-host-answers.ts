import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.host_options';

/** Redirects and compression of hosts. `data/sql/config-revision.sql` announces changes to edges. */
export class AddHostAnswers1763668803010 implements MigrationInterface {
  name = 'AddHostAnswers1763668803010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS} ADD COLUMN redirect jsonb, ADD COLUMN compress boolean NOT NULL DEFAULT false`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The trigger names the columns; as it was before.
    await queryRunner.query(`DROP TRIGGER IF EXISTS host_options_revision ON ${OPTIONS}`);
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN redirect, DROP COLUMN compress`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER host_options_revision
       AFTER INSERT OR DELETE OR UPDATE OF rewrite_host, rewrite_path, sticky, max_body_bytes, error_page, request_headers,
         response_headers, strict_path, record_requests, health_check
       ON ${OPTIONS} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
