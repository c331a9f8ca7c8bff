-- Free unlocks of a week. Of WeeklyFreeUnlocks.of (src/weekly-free) and of unlock_shares().
--
-- Promises: a user has one row, of the week that it speaks of; what was left of the weeks before is added to the
-- bonus, up to its cap.

CREATE OR REPLACE FUNCTION week_of(p_at timestamptz, p_zone text) RETURNS date LANGUAGE sql STABLE AS
  $$ SELECT date_trunc('week', p_at AT TIME ZONE p_zone)::date $$;

-- The row of this week, locked.
CREATE OR REPLACE FUNCTION settle_weekly_free(p_user bigint, p_week date, p_limit integer, p_bonus_max integer)
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
END $$;

-- Reads; writes only for the first look in a week.
CREATE OR REPLACE FUNCTION weekly_free_state(p_user bigint, p_zone text, p_limit integer, p_bonus_max integer,
  p_at timestamptz DEFAULT now()) RETURNS weekly_free LANGUAGE plpgsql AS $$
DECLARE
  present weekly_free;
BEGIN
  SELECT * INTO present FROM weekly_free WHERE user_id = p_user AND week >= week_of(p_at, p_zone);
  IF FOUND THEN
    RETURN present;
  END IF;
  RETURN settle_weekly_free(p_user, week_of(p_at, p_zone), p_limit, p_bonus_max);
END $$;

-- Uses one of the week, else one of the bonus; false when there is none. Keeps the row locked either way.
CREATE OR REPLACE FUNCTION weekly_free_left(p_user bigint, p_zone text, p_limit integer, p_bonus_max integer,
  p_at timestamptz DEFAULT now()) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  present weekly_free;
BEGIN
  present := settle_weekly_free(p_user, week_of(p_at, p_zone), p_limit, p_bonus_max);
  RETURN p_limit = 0 OR present.used < p_limit OR present.bonus > 0;
END $$;
