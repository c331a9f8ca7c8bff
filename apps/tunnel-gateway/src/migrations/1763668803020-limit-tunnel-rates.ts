import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPTIONS = 'tunnel_gateway_ops.tunnel_options';

/** A rate limit of a tunnel, beside that of its client. `data/sql/config-revision.sql` announces changes to edges. */
export class LimitTunnelRates1763668803020 implements MigrationInterface {
  name = 'LimitTunnelRates1763668803020';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${OPTIONS} ADD COLUMN rate_limit integer NOT NULL DEFAULT 0
       CONSTRAINT tunnel_options_rate_limit_check CHECK (rate_limit >= 0)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The trigger names the column; as it was before.
    await queryRunner.query(`DROP TRIGGER IF EXISTS tunnel_options_revision ON ${OPTIONS}`);
    await queryRunner.query(`ALTER TABLE ${OPTIONS} DROP COLUMN rate_limit`);
    await queryRunner.query(
      `CREATE CONSTRAINT TRIGGER tunnel_options_revision
       AFTER INSERT OR DELETE OR UPDATE OF proxy_protocol, accept_proxy_protocol ON ${OPTIONS}
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`,
    );
  }
}
