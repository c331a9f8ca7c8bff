-- Of Unlocks.unlock (src/unlocks), for an unlock that has a transaction to itself; the promises are those of unlocks.sql.
--
-- Does for one what unlock_shares() does for several, in the same order and with the same functions, but with plain values
-- instead of arrays, and with all that it writes in one statement (docs/decisions/0155-cheaper-unlocks.md).

CREATE OR REPLACE FUNCTION unlock_share(p_user bigint, p_slug uuid, p_premium boolean, p_application bigint,
  p_credential bigint, p_grant bigint, p_looked boolean, p_zone text, p_weekly_limit integer, p_bonus_max integer)
RETURNS unlock_request
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
  r unlock_request;
  kept record;
  counted record;
  state risk_states;
  balance bigint;
  version bigint;
  owner_balance bigint;
  owner_version bigint;
  has boolean;
  pays boolean;
BEGIN
  SELECT 1, p_user, sh.id, sh.owner_id, sh.kind, sh.url, sh.access_code,
      CASE WHEN sh.owner_id = p_user AND sh.deleted_at IS NULL THEN 'own'
        WHEN (SELECT true FROM unlocks u WHERE u.user_id = p_user AND u.share_id = sh.id)
          THEN CASE WHEN sh.price = 0 AND sh.deleted_at IS NULL THEN 'free_again' ELSE 'owned' END
        WHEN sh.deleted_at IS NOT NULL THEN 'none' END,
      CASE WHEN sh.price = 0 THEN 'free' WHEN p_premium IS NOT TRUE THEN 'points' WHEN sh.is_official THEN 'official' ELSE 'weekly_free' END,
      sh.price, p_application, p_credential, p_grant,
      p_looked OR (SELECT true FROM share_looks l WHERE l.user_id = p_user AND l.share_id = sh.id) IS TRUE,
      0
    INTO r
    FROM (SELECT f.*, share_price(f.unlock_points, f.held_points, f.held_until) AS price FROM shares f WHERE f.slug = p_slug) sh;
  IF NOT FOUND THEN
    r.n := 1;
    r.outcome := 'none';
  END IF;
  IF r.outcome IS NOT NULL THEN
    RETURN r;
  END IF;
  IF r.way IN ('official', 'weekly_free') AND NOT EXISTS (SELECT FROM site_accounts u
    WHERE u.id = p_user AND u.premium_until > now() + interval '20 years') THEN
    r.way := 'points';
  END IF;
  LOOP
    SELECT k AS state, s AS settings INTO kept FROM risk_states k LEFT JOIN risk_settings s ON true
      WHERE k.user_id = p_user FOR NO KEY UPDATE OF k;
    EXIT WHEN FOUND;
    INSERT INTO risk_states (user_id) VALUES (p_user) ON CONFLICT DO NOTHING;
  END LOOP;
  IF r.way = 'weekly_free' AND NOT weekly_free_left(p_user, p_zone, p_weekly_limit, p_bonus_max) THEN
    r.way := 'points';
  END IF;
  pays := r.way = 'points';
  -- Looks again, under the lock of the risk state: a twin may have had the share meanwhile.
  IF pays AND r.owner_id < p_user THEN
    SELECT k.balance, k.version INTO owner_balance, owner_version FROM ledger_accounts k WHERE k.user_id = r.owner_id FOR NO KEY UPDATE;
  END IF;
  SELECT k.balance, k.version, (SELECT true FROM unlocks u WHERE u.user_id = p_user AND u.share_id = r.share_id)
    INTO balance, version, has FROM ledger_accounts k WHERE k.user_id = p_user FOR NO KEY UPDATE;
  IF pays AND r.owner_id > p_user THEN
    SELECT k.balance, k.version INTO owner_balance, owner_version FROM ledger_accounts k WHERE k.user_id = r.owner_id FOR NO KEY UPDATE;
  END IF;
  IF has THEN
    r.outcome := CASE r.way WHEN 'free' THEN 'free_again' ELSE 'owned' END;
    RETURN r;
  ELSIF pays AND balance < r.price THEN
    r.outcome := 'insufficient';
    RETURN r;
  END IF;
  counted := count_unlock(kept.state, r, kept.settings, clock_timestamp());
  r := counted.r;
  IF r.outcome <> r.way THEN
    RETURN r;
  END IF;
  state := counted.state;
  IF pays THEN
    r.points := r.price;
    r.transaction_id := new_ledger_id();
  ELSIF r.way = 'weekly_free' THEN
    UPDATE weekly_free f SET used = f.used + 1,
      bonus = CASE WHEN p_weekly_limit > 0 AND f.used >= p_weekly_limit THEN f.bonus - 1 ELSE f.bonus END
      WHERE f.user_id = p_user;
  END IF;
  IF p_application IS NOT NULL THEN
    IF has_webhook(ARRAY[p_application]) THEN
      PERFORM note_unlocks(ARRAY[r]);
    END IF;
  END IF;
  -- One statement: each more would cost its own start and end. All rows that others may wait for are locked, but the counter.
  WITH counter AS (
    INSERT INTO share_counters AS c (share_id, unlocked_users_count) VALUES (r.share_id, 1)
      ON CONFLICT (share_id) DO UPDATE SET unlocked_users_count = c.unlocked_users_count + 1),
  risk AS (
    UPDATE risk_states k SET minute_tat = state.minute_tat, hour_tat = state.hour_tat, paid_at = state.paid_at,
      applications = state.applications, applications_at = state.applications_at, seen = state.seen WHERE k.user_id = p_user),
  event AS (
    INSERT INTO audit_events (type, user_id, application_id, credential_id, grant_id, details)
      SELECT 'unlock.charged', p_user, p_application, p_credential, p_grant,
        jsonb_build_object('share_id', r.share_id, 'points', r.price) WHERE pays),
  entries AS (
    INSERT INTO ledger_entries (transaction_id, position, user_id, amount, balance_after, account_version)
      SELECT r.transaction_id, e.* FROM (VALUES
        (1::smallint, p_user, -r.price, balance - r.price, version + 1),
        (2::smallint, r.owner_id, r.price, owner_balance + r.price, owner_version + 1)) e WHERE pays),
  accounts AS (
    UPDATE ledger_accounts k SET version = k.version + 1,
      balance = k.balance + CASE k.user_id WHEN p_user THEN -r.price ELSE r.price END
      WHERE k.user_id IN (p_user, r.owner_id) AND pays),
  moved AS (
    INSERT INTO ledger_transactions (id, kind, ref) SELECT r.transaction_id, 'unlock', p_user || ':' || r.share_id WHERE pays)
  INSERT INTO unlocks (user_id, share_id, via, points, application_id)
    VALUES (p_user, r.share_id, r.way, r.points, p_application);
  -- Only a fallen tier or an incident changes more of the state.
  IF (kept.state).changed_at <> state.changed_at THEN
    UPDATE risk_states k SET tier = state.tier, changed_at = state.changed_at, troubled_at = state.troubled_at,
      incident_at = state.incident_at, paused_at = state.paused_at, paused_until = state.paused_until,
      needs_review = state.needs_review, hits_at = state.hits_at WHERE k.user_id = p_user;
  END IF;
  RETURN r;
END $$;
