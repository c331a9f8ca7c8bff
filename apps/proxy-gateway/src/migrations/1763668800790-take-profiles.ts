import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whole profiles: groups, rule sets and further subscriptions that came with one, and which profile is in force. */
export class TakeProfiles1763668800790 implements MigrationInterface {
  name = 'TakeProfiles1763668800790';
  readonly oldestRelease = '0.1.0';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE profiles (
        subscription_id bigint PRIMARY KEY
          CONSTRAINT profiles_subscription_fk REFERENCES subscriptions (id) ON DELETE CASCADE,
        overlay jsonb NOT NULL,
        report jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    for (const [table, constraint] of [
      ['outbound_groups', 'outbound_groups_profile'],
      ['rule_sets', 'rule_sets_profile'],
    ] as const) {
      await queryRunner.query(`
        ALTER TABLE ${table}
          ADD COLUMN subscription_id bigint
            CONSTRAINT ${constraint}_fk REFERENCES subscriptions (id) ON DELETE CASCADE,
          ADD COLUMN profile_name text`);
      await queryRunner.query(`CREATE UNIQUE INDEX ${constraint}_key ON ${table} (subscription_id, profile_name)`);
    }
    await queryRunner.query('ALTER TABLE outbound_groups ADD COLUMN intake jsonb');
    await queryRunner.query(`
      ALTER TABLE subscriptions
        ADD COLUMN profile_id bigint CONSTRAINT subscriptions_profile_fk REFERENCES subscriptions (id) ON DELETE CASCADE,
        ADD COLUMN provider_name text`);
    await queryRunner.query(
      'CREATE UNIQUE INDEX subscriptions_provider_key ON subscriptions (profile_id, provider_name)',
    );
    await queryRunner.query(`
      ALTER TABLE outbound_policy
        ADD COLUMN active_profile bigint
          CONSTRAINT outbound_policy_active_fk REFERENCES subscriptions (id) ON DELETE SET NULL,
        ADD COLUMN previous_profile bigint
          CONSTRAINT outbound_policy_previous_fk REFERENCES subscriptions (id) ON DELETE SET NULL,
        ADD COLUMN can_go_back boolean NOT NULL DEFAULT false`);
    await queryRunner.query(
      `UPDATE outbound_policy SET active_profile =
         (SELECT min(subscription_id) FROM rules WHERE source = 'subscription')`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE outbound_policy DROP COLUMN active_profile, DROP COLUMN previous_profile, DROP COLUMN can_go_back',
    );
    await queryRunner.query('DELETE FROM subscriptions WHERE profile_id IS NOT NULL');
    await queryRunner.query('ALTER TABLE subscriptions DROP COLUMN profile_id, DROP COLUMN provider_name');
    for (const table of ['outbound_groups', 'rule_sets']) {
      await queryRunner.query(`DELETE FROM ${table} WHERE subscription_id IS NOT NULL`);
      await queryRunner.query(`ALTER TABLE ${table} DROP COLUMN subscription_id, DROP COLUMN profile_name`);
    }
    await queryRunner.query('ALTER TABLE outbound_groups DROP COLUMN intake');
    await queryRunner.query('DROP TABLE profiles');
  }
}
