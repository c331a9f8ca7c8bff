import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What users, their logins and their keys need besides the tables of the data model. */
export class CreateAccessState1763668802140 implements MigrationInterface {
  name = 'CreateAccessState1763668802140';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of TABLES) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX tunnel_gateway_ops.api_keys_user_id_idx');
    await queryRunner.query('ALTER TABLE tunnel_gateway_ops.api_keys DROP CONSTRAINT api_keys_user_fk');
    for (const name of ['setup_tokens', 'session_details', 'recovery_codes', 'user_totp']) {
      await queryRunner.query(`DROP TABLE tunnel_gateway_ops.${name}`);
    }
  }
}

const TABLES = [
  // Without confirmed_at it is being set up and asked for by nothing.
  `CREATE TABLE tunnel_gateway_ops.user_totp (
    user_id bigint PRIMARY KEY
      CONSTRAINT user_totp_user_fk REFERENCES tunnel_gateway.users (id) ON DELETE CASCADE,
    sealed_secret text NOT NULL,
    confirmed_at timestamptz,
    last_step bigint NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    failures_since timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE tunnel_gateway_ops.recovery_codes (
    user_id bigint NOT NULL
      CONSTRAINT recovery_codes_user_fk REFERENCES tunnel_gateway_ops.user_totp (user_id) ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    PRIMARY KEY (user_id, code_hash)
  )`,
  `CREATE TABLE tunnel_gateway_ops.session_details (
    session_id bigint PRIMARY KEY
      CONSTRAINT session_details_session_fk REFERENCES tunnel_gateway.sessions (id) ON DELETE CASCADE,
    address text,
    software text,
    last_used_at timestamptz,
    last_used_ip text
  )`,
  `CREATE TABLE tunnel_gateway_ops.setup_tokens (
    token_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`,
  `ALTER TABLE tunnel_gateway_ops.api_keys ADD CONSTRAINT api_keys_user_fk
    FOREIGN KEY (user_id) REFERENCES tunnel_gateway.users (id) ON DELETE CASCADE`,
  'CREATE INDEX api_keys_user_id_idx ON tunnel_gateway_ops.api_keys (user_id)',
];
