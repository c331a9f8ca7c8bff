import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ScheduleSubscriptions1763668800340 implements MigrationInterface {
  name = 'ScheduleSubscriptions1763668800340';

  async up(queryRunner: QueryRunner): Promise<void> {
    // `dispatched_at`: since when a refresh that became due waits in the queue or runs; a lost one is sent again.
    await queryRunner.query(`
      ALTER TABLE subscriptions
        ADD COLUMN interval_source text NOT NULL DEFAULT 'user',
        ADD COLUMN bring_rules boolean NOT NULL DEFAULT false,
        ADD COLUMN working_user_agent text,
        ADD COLUMN last_result jsonb,
        ADD COLUMN next_refresh_at timestamptz,
        ADD COLUMN dispatched_at timestamptz`);
    // Spread over the first interval, an hour at most: those that are there already must not all be due at once.
    await queryRunner.query(`
      UPDATE subscriptions SET next_refresh_at = now() + random() * least(interval_sec, 3600) * interval '1 second'
      WHERE enabled`);
    await queryRunner.query('CREATE INDEX subscriptions_due_idx ON subscriptions (next_refresh_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE subscriptions DROP COLUMN interval_source, DROP COLUMN bring_rules, DROP COLUMN working_user_agent,
        DROP COLUMN last_result, DROP COLUMN next_refresh_at, DROP COLUMN dispatched_at`);
  }
}
