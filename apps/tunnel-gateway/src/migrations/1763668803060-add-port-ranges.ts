import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.tunnel_options';

/** How many ports a tunnel has, from its `listen_port` on. `data/sql/config-revision.sql` announces changes to edges. */
export class AddPortRanges1763668803060 implements MigrationInterface {
  name = 'AddPortRanges1763668803060';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS} ADD COLUMN port_count integer NOT NULL DEFAULT 1
       CONSTRAINT tunnel_options_port_count_check CHECK (port_count BETWEEN 1 AND 1000)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The trigger names the column; as it was before.
    await queryRunner.query(`DROP TRIGGER IF EXISTS tunnel_options_revision ON ${OPTIONS}`);
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN port_count`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER tunnel_options_revision
       AFTER INSERT OR DELETE OR UPDATE OF proxy_protocol, accept_proxy_protocol, rate_limit ON ${OPTIONS}
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
