import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Authorizations that begin on a device without a browser (RFC 8628). Both codes are stored as hashes. */
export class CreateDeviceCodes1763668801780 implements MigrationInterface {
  name = 'CreateDeviceCodes1763668801780';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE device_codes (
      hash bytea PRIMARY KEY,
      user_code_hash bytea NOT NULL CONSTRAINT device_codes_user_code_hash_key UNIQUE,
      application_id bigint NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
      scopes text[] NOT NULL,
      expires_at timestamptz NOT NULL,
      interval_s integer NOT NULL,
      polled_at timestamptz,
      grant_id bigint REFERENCES grants (id) ON DELETE CASCADE,
      denied_at timestamptz,
      consumed_at timestamptz
    )`);
    await queryRunner.query('CREATE INDEX device_codes_expires_at_idx ON device_codes (expires_at)');
    await queryRunner.query('CREATE INDEX device_codes_application_idx ON device_codes (application_id)');
    await queryRunner.query(
      'CREATE INDEX device_codes_grant_idx ON device_codes (grant_id) WHERE grant_id IS NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE device_codes');
  }
}
