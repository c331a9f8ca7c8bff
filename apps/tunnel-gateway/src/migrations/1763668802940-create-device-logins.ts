import { createThrottleTable, dropThrottleTable } from '@gatehouse/platform';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Logins that begin on a machine without a browser (RFC 8628). Both codes are stored as hashes. */
export class CreateDeviceLogins1763668802940 implements MigrationInterface {
  name = 'CreateDeviceLogins1763668802940';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE device_logins (
      hash bytea CONSTRAINT device_logins_pkey PRIMARY KEY,
      user_code_hash bytea NOT NULL CONSTRAINT device_logins_user_code_hash_key UNIQUE,
      machine text NOT NULL,
      address text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      interval_s integer NOT NULL,
      polled_at timestamptz,
      session_id bigint CONSTRAINT device_logins_session_fk REFERENCES tunnel_gateway.sessions (id) ON DELETE CASCADE,
      denied_at timestamptz,
      consumed_at timestamptz
    )`);
    await queryRunner.query('CREATE INDEX device_logins_expires_at_idx ON device_logins (expires_at)');
    await queryRunner.query(
      'CREATE INDEX device_logins_session_idx ON device_logins (session_id) WHERE session_id IS NOT NULL',
    );
    await createThrottleTable(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropThrottleTable(queryRunner);
    await queryRunner.query('DROP TABLE device_logins');
  }
}
