import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.host_options';

/** Whether requests of a host are kept for its owner. `data/sql/config-revision.sql` announces changes to edges. */
export class RecordRequests1763668802910 implements MigrationInterface {
  name = 'RecordRequests1763668802910';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS} ADD COLUMN record_requests text NOT NULL DEFAULT 'off'
       CONSTRAINT host_options_record_requests_check CHECK (record_requests IN ('off', 'requests', 'full'))`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The trigger names the column; as it was before.
    await queryRunner.query(`DROP TRIGGER IF EXISTS host_options_revision ON ${OPTIONS}`);
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN record_requests`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER host_options_revision
       AFTER INSERT OR DELETE OR UPDATE OF rewrite_host, request_headers, response_headers, strict_path ON ${OPTIONS}
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
