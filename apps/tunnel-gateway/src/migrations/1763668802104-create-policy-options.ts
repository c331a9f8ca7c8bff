import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What policies have beside the columns of the data model. */
export class CreatePolicyOptions1763668802104 implements MigrationInterface {
  name = 'CreatePolicyOptions1763668802104';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tunnel_gateway_ops.policy_options (
        policy_id bigint PRIMARY KEY
          CONSTRAINT policy_options_policy_fk REFERENCES tunnel_gateway.auth_policies (id) ON DELETE CASCADE,
        copy_headers jsonb NOT NULL DEFAULT '[]',
        allow_private boolean NOT NULL DEFAULT false
      )`);
    await queryRunner.query(`
      CREATE CONSTRAINT TRIGGER policy_options_revision
      AFTER INSERT OR DELETE OR UPDATE OF copy_headers, allow_private ON tunnel_gateway_ops.policy_options
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.policy_options');
  }
}
