import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.host_options';

/** Health checks of targets. `data/sql/config-revision.sql` announces changes to edges. */
export class CheckHostTargets1763668802930 implements MigrationInterface {
  name = 'CheckHostTargets1763668802930';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE ${OPTIONS} ADD COLUMN health_check jsonb`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The trigger names the column; as it was before.
    await queryRunner.query(`DROP TRIGGER IF EXISTS host_options_revision ON ${OPTIONS}`);
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN health_check`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER host_options_revision
       AFTER INSERT OR DELETE OR UPDATE OF rewrite_host, rewrite_path, sticky, max_body_bytes, error_page, request_headers,
         response_headers, strict_path, record_requests
       ON ${OPTIONS} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
