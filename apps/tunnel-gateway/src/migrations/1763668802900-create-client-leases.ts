import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Temporary clients: they are deleted when nobody has renewed their lease. */
export class CreateClientLeases1763668802900 implements MigrationInterface {
  name = 'CreateClientLeases1763668802900';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE tunnel_gateway_ops.client_leases (
      client_id bigint CONSTRAINT client_leases_pkey PRIMARY KEY
        CONSTRAINT client_leases_client_fk REFERENCES tunnel_gateway.clients (id) ON DELETE CASCADE,
      until timestamptz NOT NULL
    )`);
    await queryRunner.query('CREATE INDEX client_leases_until_idx ON tunnel_gateway_ops.client_leases (until)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.client_leases');
  }
}
