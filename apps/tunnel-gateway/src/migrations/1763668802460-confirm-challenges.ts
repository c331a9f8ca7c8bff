import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHALLENGES = 'tunnel_gateway_ops.acme_challenges';

/** An order waits until an edge serves what the authority will look for. */
export class ConfirmChallenges1763668802460 implements MigrationInterface {
  name = 'ConfirmChallenges1763668802460';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE ${CHALLENGES} ADD COLUMN served_at timestamptz`);
    // The edges' own word about it is no news to them.
    await this.notifyOf(queryRunner, 'INSERT OR DELETE OR UPDATE OF key_authorization');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await this.notifyOf(queryRunner, 'INSERT OR UPDATE OR DELETE');
    await queryRunner.query(`ALTER TABLE ${CHALLENGES} DROP COLUMN served_at`);
  }

  private async notifyOf(queryRunner: QueryRunner, changes: string): Promise<void> {
    await queryRunner.query(`DROP TRIGGER acme_challenges_tell ON ${CHALLENGES}`);
    await queryRunner.query(
      `CREATE TRIGGER acme_challenges_tell AFTER ${changes} ON ${CHALLENGES}
       FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.tell_challenges()`,
    );
  }
}
