import type { MigrationInterface, QueryRunner } from 'typeorm';

const OPS = 'tunnel_gateway_ops';
const CERTIFICATE_COLUMNS = ['names', 'subject', 'issuer', 'not_before'];

/** Accounts and orders of ACME, what is shown to authorities that look, and what is known of certificates. */
export class CreateAcme1763668802150 implements MigrationInterface {
  name = 'CreateAcme1763668802150';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['certificate_warnings', 'acme_challenges', 'acme_states', 'acme_accounts']) {
      await queryRunner.query(`DROP TABLE ${OPS}.${table}`);
    }
    await queryRunner.query(`DROP FUNCTION ${OPS}.tell_challenges`);
    for (const column of CERTIFICATE_COLUMNS) {
      await queryRunner.query(`ALTER TABLE ${OPS}.certificates DROP COLUMN ${column}`);
    }
  }
}

const STATEMENTS = [
  `ALTER TABLE ${OPS}.certificates
    ADD COLUMN names text[] NOT NULL DEFAULT '{}',
    ADD COLUMN subject text NOT NULL DEFAULT '',
    ADD COLUMN issuer text NOT NULL DEFAULT '',
    ADD COLUMN not_before timestamptz NOT NULL DEFAULT now()`,
  `CREATE TABLE ${OPS}.acme_accounts (
    directory text PRIMARY KEY,
    sealed_key text NOT NULL,
    url text,
    contact text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE ${OPS}.acme_states (
    host_id bigint PRIMARY KEY
      CONSTRAINT acme_states_host_fk REFERENCES tunnel_gateway.hosts (id) ON DELETE CASCADE,
    next_at timestamptz NOT NULL,
    failures integer NOT NULL DEFAULT 0,
    last_error text,
    blocked_until timestamptz,
    tried_at timestamptz,
    asked_at timestamptz
  )`,
  `CREATE TABLE ${OPS}.acme_challenges (
    token text PRIMARY KEY,
    type text NOT NULL CONSTRAINT acme_challenges_type_check CHECK (type IN ('http-01', 'tls-alpn-01')),
    name text NOT NULL,
    key_authorization text NOT NULL,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE ${OPS}.certificate_warnings (
    host_id bigint PRIMARY KEY
      CONSTRAINT certificate_warnings_host_fk REFERENCES tunnel_gateway.hosts (id) ON DELETE CASCADE,
    not_after timestamptz NOT NULL
  )`,
  `CREATE FUNCTION ${OPS}.tell_challenges() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('tunnel_gateway:acme', '');
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER acme_challenges_tell AFTER INSERT OR UPDATE OR DELETE ON ${OPS}.acme_challenges
   FOR EACH STATEMENT EXECUTE FUNCTION ${OPS}.tell_challenges()`,
];
