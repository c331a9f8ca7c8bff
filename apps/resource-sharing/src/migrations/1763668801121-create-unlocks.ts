import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  `CREATE TABLE unlocks (
    user_id bigint NOT NULL CONSTRAINT unlocks_user_id_fkey REFERENCES site_accounts (id),
    share_id bigint NOT NULL CONSTRAINT unlocks_share_id_fkey REFERENCES shares (id),
    via text NOT NULL CONSTRAINT unlocks_via_check CHECK (via IN ('free', 'official', 'weekly_free', 'points')),
    points integer NOT NULL CONSTRAINT unlocks_points_check CHECK ((via = 'points') = (points > 0) AND points >= 0),
    application_id bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT unlocks_pkey PRIMARY KEY (user_id, share_id)
  )`,
  // One row a user, of the week it speaks of: it moves to a new week when it is next looked at.
  `CREATE TABLE weekly_free (
    user_id bigint PRIMARY KEY CONSTRAINT weekly_free_user_id_fkey REFERENCES site_accounts (id),
    week date NOT NULL CONSTRAINT weekly_free_week_check CHECK (extract(isodow FROM week) = 1),
    used integer NOT NULL DEFAULT 0 CONSTRAINT weekly_free_used_check CHECK (used >= 0),
    bonus integer NOT NULL DEFAULT 0 CONSTRAINT weekly_free_bonus_check CHECK (bonus >= 0)
  ) WITH (fillfactor = 70)`,
];

const FUNCTIONS = [
  `CREATE FUNCTION week_of(p_at timestamptz, p_zone text) RETURNS date LANGUAGE sql STABLE AS
    $$ SELECT date_trunc('week', p_at AT TIME ZONE p_zone)::date $$`,
  // The row of this week, locked. What was left of the weeks before is added to the bonus, up to its cap.
  `CREATE FUNCTION settle_weekly_free(p_user bigint, p_week date, p_limit integer, p_bonus_max integer)
  RETURNS weekly_free LANGUAGE plpgsql AS $$
  DECLARE
    settled weekly_free;
  BEGIN
    INSERT INTO weekly_free AS kept (user_id, week) VALUES (p_user, p_week)
      ON CONFLICT (user_id) DO UPDATE SET week = excluded.week, used = 0,
        bonus = least(p_bonus_max, kept.bonus
          + CASE WHEN p_limit = 0 THEN 0 ELSE greatest(0, p_limit - kept.used)
            + ((excluded.week - kept.week) / 7 - 1)::bigint * p_limit END)
      WHERE kept.week < excluded.week
      RETURNING * INTO settled;
    IF NOT FOUND THEN
      SELECT * INTO settled FROM weekly_free WHERE user_id = p_user FOR NO KEY UPDATE;
    END IF;
    RETURN settled;
  END $$`,
  // Reads; writes only for the first look in a week.
  `CREATE FUNCTION weekly_free_state(p_user bigint, p_zone text, p_limit integer, p_bonus_max integer,
    p_at timestamptz DEFAULT now()) RETURNS weekly_free LANGUAGE plpgsql AS $$
  DECLARE
    present weekly_free;
  BEGIN
    SELECT * INTO present FROM weekly_free WHERE user_id = p_user AND week >= week_of(p_at, p_zone);
    IF FOUND THEN
      RETURN present;
    END IF;
    RETURN settle_weekly_free(p_user, week_of(p_at, p_zone), p_limit, p_bonus_max);
  END $$`,
  // Uses one of the week, else one of the bonus; false when there is none. Keeps the row locked either way.
  `CREATE FUNCTION weekly_free_left(p_user bigint, p_zone text, p_limit integer, p_bonus_max integer,
    p_at timestamptz DEFAULT now()) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    present weekly_free;
  BEGIN
    present := settle_weekly_free(p_user, week_of(p_at, p_zone), p_limit, p_bonus_max);
    RETURN p_limit = 0 OR present.used < p_limit OR present.bonus > 0;
  END $$`,
];

export class CreateUnlocks1763668801121 implements MigrationInterface {
  name = 'CreateUnlocks1763668801121';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES, ...FUNCTIONS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const functions = ['weekly_free_left', 'weekly_free_state', 'settle_weekly_free', 'week_of'];
    for (const name of functions) await queryRunner.query(`DROP FUNCTION ${name}`);
    await queryRunner.query('DROP TABLE weekly_free, unlocks');
  }
}
