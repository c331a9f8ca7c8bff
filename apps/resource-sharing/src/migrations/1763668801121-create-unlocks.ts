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
  'CREATE INDEX unlocks_share_id_idx ON unlocks (share_id)',
  // One row a user, of the week it speaks of: it moves to a new week when it is next looked at.
  `CREATE TABLE weekly_free (
    user_id bigint PRIMARY KEY CONSTRAINT weekly_free_user_id_fkey REFERENCES site_accounts (id),
    week date NOT NULL CONSTRAINT weekly_free_week_check CHECK (extract(isodow FROM week) = 1),
    used integer NOT NULL DEFAULT 0 CONSTRAINT weekly_free_used_check CHECK (used >= 0),
    bonus integer NOT NULL DEFAULT 0 CONSTRAINT weekly_free_bonus_check CHECK (bonus >= 0)
  ) WITH (fillfactor = 70)`,
];

/** Complete with the migration that holds prices, which makes it again. */
export const UNLOCK_SHARE = `CREATE OR REPLACE FUNCTION unlock_share(p_user bigint, p_slug uuid, p_premium boolean, p_application bigint, p_credential bigint,
    p_grant bigint, p_zone text, p_weekly_limit integer, p_bonus_max integer,
    OUT outcome text, OUT kind text, OUT url text, OUT access_code text, OUT points integer, OUT balance bigint)
  LANGUAGE plpgsql AS $$
  DECLARE
    share record;
    way text := 'points';
  BEGIN
    points := 0;
    SELECT s.id, s.owner_id, s.kind, s.url, s.access_code, s.is_official, s.deleted_at IS NOT NULL AS gone,
        nullif(share_price(s.unlock_points, s.held_points, s.held_until), 0) AS unlock_points
      INTO share FROM shares s WHERE s.slug = p_slug;
    IF NOT FOUND THEN
      outcome := 'none';
      RETURN;
    END IF;
    kind := share.kind;
    url := share.url;
    access_code := share.access_code;
    IF share.owner_id = p_user AND NOT share.gone THEN
      outcome := 'own';
      RETURN;
    END IF;
    IF share.gone OR share.unlock_points IS NOT NULL THEN
      IF EXISTS (SELECT FROM unlocks u WHERE u.user_id = p_user AND u.share_id = share.id) THEN
        outcome := 'owned';
        RETURN;
      ELSIF share.gone THEN
        outcome := 'none';
        RETURN;
      END IF;
    END IF;
    IF share.unlock_points IS NULL THEN
      way := 'free';
    ELSIF p_premium AND EXISTS (SELECT FROM site_accounts a
      WHERE a.id = p_user AND a.premium_until > now() + interval '20 years') THEN
      IF share.is_official THEN
        way := 'official';
      ELSIF weekly_free_left(p_user, p_zone, p_weekly_limit, p_bonus_max) THEN
        way := 'weekly_free';
      END IF;
    END IF;
    points := CASE way WHEN 'points' THEN share.unlock_points ELSE 0 END;
    -- Twins wait here for the first of them, and then find the share unlocked.
    INSERT INTO unlocks (user_id, share_id, via, points, application_id)
      VALUES (p_user, share.id, way, unlock_share.points, p_application) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      outcome := CASE way WHEN 'free' THEN 'free' ELSE 'owned' END;
      points := 0;
      RETURN;
    END IF;
    outcome := way;
    IF way = 'weekly_free' THEN
      UPDATE weekly_free f SET used = f.used + 1,
        bonus = CASE WHEN p_weekly_limit > 0 AND f.used >= p_weekly_limit THEN f.bonus - 1 ELSE f.bonus END
        WHERE f.user_id = p_user;
    ELSIF way = 'points' THEN
      SELECT t.from_balance INTO balance FROM ledger_transfer('unlock', p_user || ':' || share.id, p_user, share.owner_id,
        NULL, share.unlock_points) t;
      INSERT INTO audit_events (type, user_id, application_id, credential_id, grant_id, details)
        VALUES ('unlock.charged', p_user, p_application, p_credential, p_grant,
          jsonb_build_object('share_id', share.id, 'points', share.unlock_points));
    END IF;
    -- Last: everybody who unlocks this share waits for the row.
    INSERT INTO share_counters AS c (share_id, unlocked_users_count) VALUES (share.id, 1)
      ON CONFLICT (share_id) DO UPDATE SET unlocked_users_count = c.unlocked_users_count + 1;
  END $$`;

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
  UNLOCK_SHARE,
];

export class CreateUnlocks1763668801121 implements MigrationInterface {
  name = 'CreateUnlocks1763668801121';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES, ...FUNCTIONS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const functions = ['unlock_share', 'weekly_free_left', 'weekly_free_state', 'settle_weekly_free', 'week_of'];
    for (const name of functions) await queryRunner.query(`DROP FUNCTION ${name}`);
    await queryRunner.query('DROP TABLE weekly_free, unlocks');
  }
}
