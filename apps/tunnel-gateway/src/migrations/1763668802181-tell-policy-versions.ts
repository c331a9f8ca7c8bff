import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = 'resource_type, resource_id, type, password, callback_url, enabled, ttl_seconds';

/** The version of a policy is when it was changed: an edge with another one takes no grant for it. */
export class TellPolicyVersions1763668802181 implements MigrationInterface {
  name = 'TellPolicyVersions1763668802181';

  async up(queryRunner: QueryRunner): Promise<void> {
    await replaceTrigger(queryRunner, `${COLUMNS}, updated_at`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await replaceTrigger(queryRunner, COLUMNS);
  }
}

async function replaceTrigger(queryRunner: QueryRunner, columns: string): Promise<void> {
  await queryRunner.query('DROP TRIGGER auth_policies_revision ON tunnel_gateway.auth_policies');
  await queryRunner.query(`
    CREATE CONSTRAINT TRIGGER auth_policies_revision
    AFTER INSERT OR DELETE OR UPDATE OF ${columns} ON tunnel_gateway.auth_policies
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`);
}
