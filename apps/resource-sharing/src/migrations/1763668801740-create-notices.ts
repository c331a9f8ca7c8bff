import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // No key to the account: an event may be about one that is not there.
  `CREATE TABLE notices (
    event_id bigint PRIMARY KEY REFERENCES audit_events (id) ON DELETE CASCADE,
    user_id bigint NOT NULL,
    read_at timestamptz
  )`,
  'CREATE INDEX notices_user_idx ON notices (user_id, event_id)',
  'CREATE INDEX notices_unread_idx ON notices (user_id) WHERE read_at IS NULL',
  `CREATE TABLE sign_in_networks (
    user_id bigint NOT NULL REFERENCES site_accounts (id) ON DELETE CASCADE,
    network text NOT NULL,
    last_used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, network)
  )`,
  'CREATE INDEX sign_in_networks_time_idx ON sign_in_networks (last_used_at)',
];

/** Notices of users (data/sql/notices.sql), and from where users have signed in. */
export class CreateNotices1763668801740 implements MigrationInterface {
  name = 'CreateNotices1763668801740';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER IF EXISTS audit_events_notice ON audit_events');
    await queryRunner.query('DROP FUNCTION IF EXISTS note_notice()');
    await queryRunner.query('DROP FUNCTION IF EXISTS is_notice(text, bigint, jsonb)');
    await queryRunner.query('DROP TABLE sign_in_networks');
    await queryRunner.query('DROP TABLE notices');
  }
}
