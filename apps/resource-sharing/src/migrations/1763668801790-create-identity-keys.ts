import type { MigrationInterface, QueryRunner } from 'typeorm';

/** OpenID Connect: keys that sign, and what an id_token says about an authorization. */
export class CreateIdentityKeys1763668801790 implements MigrationInterface {
  name = 'CreateIdentityKeys1763668801790';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE identity_keys (
      kid text PRIMARY KEY,
      sealed_key text NOT NULL,
      public_jwk jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      signs_from timestamptz NOT NULL
    )`);
    await queryRunner.query('ALTER TABLE grants ADD COLUMN auth_time timestamptz');
    await queryRunner.query('ALTER TABLE authorization_codes ADD COLUMN nonce text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE authorization_codes DROP COLUMN nonce');
    await queryRunner.query('ALTER TABLE grants DROP COLUMN auth_time');
    await queryRunner.query('DROP TABLE identity_keys');
  }
}
