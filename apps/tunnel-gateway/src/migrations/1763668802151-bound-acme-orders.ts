import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was ordered of authorities in the last hour, so that nobody uses up what they allow. */
export class BoundAcmeOrders1763668802151 implements MigrationInterface {
  name = 'BoundAcmeOrders1763668802151';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE tunnel_gateway_ops.acme_orders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL,
        owner_user_id bigint NOT NULL,
        begun_at timestamptz NOT NULL DEFAULT now()
      )`,
    );
    await queryRunner.query('CREATE INDEX acme_orders_name_idx ON tunnel_gateway_ops.acme_orders (name, begun_at)');
    await queryRunner.query(
      'CREATE INDEX acme_orders_owner_user_id_idx ON tunnel_gateway_ops.acme_orders (owner_user_id, begun_at)',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.acme_orders');
  }
}
