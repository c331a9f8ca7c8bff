import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Beside the gateway's key, the one that is to take its place: row 2. */
export class ExchangeIdentity1763668802700 implements MigrationInterface {
  name = 'ExchangeIdentity1763668802700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE tunnel_gateway_ops.server_identity DROP CONSTRAINT server_identity_id_check,
        ADD CONSTRAINT server_identity_id_check CHECK (id IN (1, 2))`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DELETE FROM tunnel_gateway_ops.server_identity WHERE id = 2');
    await queryRunner.query(
      `ALTER TABLE tunnel_gateway_ops.server_identity DROP CONSTRAINT server_identity_id_check,
        ADD CONSTRAINT server_identity_id_check CHECK (id = 1)`,
    );
  }
}
