import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'tunnel_gateway_ops.server_identity';

/** Row 3: the key before the one in use, and until when it is shown to agents that know no other. */
export class KeepFormerIdentity1763668802730 implements MigrationInterface {
  name = 'KeepFormerIdentity1763668802730';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE ${TABLE} ADD COLUMN served_until timestamptz, DROP CONSTRAINT server_identity_id_check,
        ADD CONSTRAINT server_identity_id_check CHECK (id IN (1, 2, 3)),
        ADD CONSTRAINT server_identity_until_check CHECK ((id = 3) = (served_until IS NOT NULL))`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM ${TABLE} WHERE id = 3`);
    await queryRunner.query(
      `ALTER TABLE ${TABLE} DROP CONSTRAINT server_identity_until_check, DROP CONSTRAINT server_identity_id_check,
        ADD CONSTRAINT server_identity_id_check CHECK (id IN (1, 2)), DROP COLUMN served_until`,
    );
  }
}
