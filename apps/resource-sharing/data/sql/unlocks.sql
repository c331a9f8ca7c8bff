-- Of Unlocks.unlock and UnlockBatches (src/unlocks); single-unlocks.sql has the function for one unlock.
--
-- Promises: a share is paid for once a user, and nobody pays for what is theirs, free or had before; no unlock
-- without its payment, no payment without its unlock. Everybody locks in the same order: risk states, weeks, accounts
-- and counters, each by number.

-- Counts an unlock that gives something new under the limits of the user's tier, or makes its outcome the refusal. The
-- state counts only if the outcome is the way. PL/pgSQL prepares each expression in each transaction: so they are few.
CREATE OR REPLACE FUNCTION count_unlock(INOUT state risk_states, INOUT r unlock_request, s risk_settings, t timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  application bigint := coalesce(r.application_id, 0);
  minute_step interval;
  hour_step interval;
  minute_s float8;
  hour_s float8;
  kept integer;
BEGIN
  r.tier := current_tier(state, s.clean_time, t);
  r.quota := CASE r.tier WHEN 0 THEN s.unlocks_per_minute ELSE s.watched_unlocks_per_minute END;
  r.remaining := 0;
  IF state.paused_until > t THEN
    r.outcome := CASE r.tier WHEN 3 THEN 'blocked' ELSE 'paused' END;
    r.retry_s := date_part('epoch', state.paused_until - t);
    RETURN;
  END IF;
  minute_step := interval '1 minute' / r.quota;
  hour_step := interval '1 hour' / s.unlocks_per_hour;
  state.minute_tat := greatest(state.minute_tat, t) + minute_step;
  state.hour_tat := greatest(state.hour_tat, t) + hour_step;
  minute_s := date_part('epoch', state.minute_tat - t);
  hour_s := date_part('epoch', state.hour_tat - t);
  -- A millisecond and half a microsecond, because the numbers are not exact.
  IF minute_s > 60.0010005 OR hour_s > 3600.0010005 THEN
    r.outcome := 'too_fast';
    r.retry_s := greatest(minute_s - 60, hour_s - 3600);
    RETURN;
  END IF;
  r.remaining := least(floor(r.quota + 1e-6 - minute_s / date_part('epoch', minute_step)),
    floor(s.unlocks_per_hour + 1e-6 - hour_s / date_part('epoch', hour_step)));
  r.reset_s := minute_s;
  IF r.tier < state.tier THEN
    state.tier := r.tier;
    state.changed_at := t;
    state.troubled_at := NULL;
  END IF;
  IF r.way = 'points' THEN
    kept := cardinality(state.paid_at);
    state.paid_at := CASE WHEN kept > s.paid_unlocks_per_hour
      THEN state.paid_at[kept - s.paid_unlocks_per_hour + 1 :] ELSE state.paid_at END || t;
  END IF;
  IF state.applications = ARRAY[application] THEN
    state.applications_at := ARRAY[t];
  ELSE
    SELECT coalesce(array_agg(a), '{}') || application, coalesce(array_agg(at), '{}') || t
      INTO state.applications, state.applications_at
      FROM unnest(state.applications, state.applications_at) AS u (a, at)
      WHERE a <> application AND at > t - s.applications_window;
  END IF;
  kept := cardinality(state.seen);
  state.seen := CASE WHEN kept >= s.unseen_sample THEN state.seen[kept - s.unseen_sample + 2 :] ELSE state.seen END || r.seen;
  IF cardinality(state.applications) >= s.applications OR kept + 1 >= s.unseen_sample
    OR cardinality(state.paid_at) > s.paid_unlocks_per_hour THEN
    state := weigh_unlocks(state, s, application, t);
  END IF;
  r.tier := state.tier;
  r.outcome := r.way;
END $$;

-- The state after an incident, if there is enough evidence for one.
CREATE OR REPLACE FUNCTION weigh_unlocks(state risk_states, s risk_settings, application bigint, t timestamptz) RETURNS risk_states
LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(state.applications) >= s.applications THEN
    RETURN risk_incident(state, 'applications', 2, application, t);
  ELSIF cardinality(state.seen) >= s.unseen_sample
    AND cardinality(array_positions(state.seen, false)) >= s.unseen_share * s.unseen_sample THEN
    RETURN risk_incident(state, 'unseen', 2, application, t);
  ELSIF cardinality(state.paid_at) > s.paid_unlocks_per_hour
    AND state.paid_at[cardinality(state.paid_at) - s.paid_unlocks_per_hour] > t - interval '1 hour' THEN
    RETURN risk_incident(state, 'paid', 1, application, t);
  END IF;
  RETURN state;
END $$;

-- Before several unlocks of one user in one transaction, each by a call of unlock_shares(): everything that they lock, in
-- the order in which everybody locks, whatever the order in which they are paid. The user's week has no other party.
CREATE OR REPLACE FUNCTION lock_unlocks(p_user bigint, p_slugs uuid[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  wanted bigint[];
  parties bigint[];
BEGIN
  PERFORM set_config('lock_timeout', '3s', true);
  INSERT INTO risk_states (user_id) VALUES (p_user) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM risk_states WHERE user_id = p_user FOR NO KEY UPDATE;
  SELECT coalesce(array_agg(s.id), '{}'), coalesce(array_agg(s.owner_id), '{}') || p_user INTO wanted, parties
    FROM shares s WHERE s.slug = ANY (p_slugs);
  PERFORM 1 FROM ledger_accounts WHERE user_id = ANY (parties) ORDER BY user_id FOR NO KEY UPDATE;
  INSERT INTO share_counters (share_id) SELECT w FROM unnest(wanted) w ORDER BY w ON CONFLICT DO NOTHING;
  PERFORM 1 FROM share_counters WHERE share_id = ANY (wanted) ORDER BY share_id FOR NO KEY UPDATE;
END $$;

-- Most applications have no webhook: asked first, because note_unlocks() costs twenty times this, also where it finds nothing.
CREATE OR REPLACE FUNCTION has_webhook(p_applications bigint[]) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT EXISTS (SELECT FROM webhooks w WHERE w.application_id = ANY (p_applications) AND w.status = 1) $$;

-- New unlocks, for the webhooks of their applications.
CREATE OR REPLACE FUNCTION note_unlocks(p_unlocks unlock_request[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO application_events (application_id, type, data)
    SELECT u.application_id, 'share.unlocked', jsonb_build_object('user_id', u.user_id, 'slug',
        (SELECT replace(h.slug::text, '-', '') FROM shares h WHERE h.id = u.share_id), 'via', u.way, 'points', coalesce(u.points, 0))
    FROM unnest(p_unlocks) u WHERE is_wanted(u.application_id, 'share.unlocked');
  IF FOUND THEN
    PERFORM pg_notify('resource_sharing:application_events', '');
  END IF;
END $$;

-- The links of shares: own, free, had before, free this week, or for points, in that order. Several unlocks of
-- different users go in one transaction; what comes of one is nothing to the others, and one that is refused leaves
-- nothing behind.
CREATE OR REPLACE FUNCTION unlock_shares(p_users bigint[], p_slugs uuid[], p_premium boolean[], p_applications bigint[],
  p_credentials bigint[], p_grants bigint[], p_looked boolean[], p_zone text, p_weekly_limit integer, p_bonus_max integer)
RETURNS SETOF unlock_request
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  s risk_settings;
  requests unlock_request[];
  r unlock_request;
  counted record;
  states risk_states[];
  users bigint[] := '{}';
  shares bigint[] := '{}';
  parties bigint[] := '{}';
  accounts bigint[];
  balances bigint[];
  versions bigint[];
  had bigint[];
  at integer;
  t timestamptz;
  new_states risk_states[] := '{}';
  new_unlocks unlock_request[] := '{}';
  debited unlock_request[] := '{}';
  paid unlock_request[] := '{}';
  uses_week boolean := false;
  may_use_week boolean := false;
BEGIN
  -- Scalar queries, where EXISTS would be planned to read a table whole.
  SELECT array_agg(ROW(a.n, a.user_id, sh.id, sh.owner_id, sh.kind, sh.url, sh.access_code,
      CASE WHEN sh.id IS NULL THEN 'none'
        WHEN sh.owner_id = a.user_id AND sh.deleted_at IS NULL THEN 'own'
        WHEN (SELECT true FROM unlocks u WHERE u.user_id = a.user_id AND u.share_id = sh.id)
          THEN CASE WHEN sh.price = 0 AND sh.deleted_at IS NULL THEN 'free_again' ELSE 'owned' END
        WHEN sh.deleted_at IS NOT NULL THEN 'none' END,
      CASE WHEN sh.price = 0 THEN 'free'
        WHEN a.premium AND (SELECT true FROM site_accounts u
          WHERE u.id = a.user_id AND u.premium_until > now() + interval '20 years')
          THEN CASE WHEN sh.is_official THEN 'official' ELSE 'weekly_free' END
        ELSE 'points' END,
      sh.price, a.application_id, a.credential_id, a.grant_id, a.looked
        OR (SELECT true FROM share_looks l WHERE l.user_id = a.user_id AND l.share_id = sh.id) IS TRUE,
      0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::unlock_request ORDER BY a.user_id)
    INTO requests
    FROM unnest(p_users, p_slugs, p_premium, p_applications, p_credentials, p_grants, p_looked)
      WITH ORDINALITY AS a (user_id, slug, premium, application_id, credential_id, grant_id, looked, n)
    LEFT JOIN LATERAL (SELECT f.*, share_price(f.unlock_points, f.held_points, f.held_until) AS price
      FROM shares f WHERE f.slug = a.slug) sh ON true;
  FOREACH r IN ARRAY requests LOOP
    IF r.outcome IS NULL THEN
      IF r.user_id = ANY (users) THEN
        RAISE EXCEPTION 'two unlocks of one user' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      users := users || r.user_id;
      shares := shares || r.share_id;
      parties := parties || r.user_id;
      IF r.way IN ('points', 'weekly_free') THEN
        parties := parties || r.owner_id;
        may_use_week := may_use_week OR r.way = 'weekly_free';
      END IF;
    ELSE
      RETURN NEXT r;
    END IF;
  END LOOP;
  IF cardinality(users) = 0 THEN
    RETURN;
  END IF;
  -- One that has to wait long shall not keep the others: they are tried one by one then. Nor does one wait for ever, for
  -- whoever holds a row may be gone without the server knowing.
  PERFORM set_config('lock_timeout', CASE WHEN cardinality(requests) > 1 THEN '250ms' ELSE '3s' END, true);
  LOOP
    SELECT array_agg(present.kept) INTO states FROM
      (SELECT k AS kept FROM risk_states k WHERE k.user_id = ANY (users) ORDER BY k.user_id FOR NO KEY UPDATE) present;
    EXIT WHEN cardinality(states) = cardinality(users);
    INSERT INTO risk_states (user_id) SELECT u FROM unnest(users) u ORDER BY u ON CONFLICT DO NOTHING;
  END LOOP;
  IF may_use_week THEN
    FOR i IN 1 .. cardinality(requests) LOOP
      IF requests[i].outcome IS NULL AND requests[i].way = 'weekly_free'
        AND NOT weekly_free_left(requests[i].user_id, p_zone, p_weekly_limit, p_bonus_max) THEN
        requests[i].way := 'points';
      END IF;
    END LOOP;
  END IF;
  -- Looks again, under the lock of the risk state: a twin may have had the share meanwhile.
  SELECT array_agg(a.user_id), array_agg(a.balance), array_agg(a.version), array_agg(a.user_id) FILTER (WHERE a.has)
    INTO accounts, balances, versions, had
    FROM (SELECT k.user_id, k.balance, k.version, (SELECT true FROM unlocks u WHERE u.user_id = k.user_id
        AND u.share_id = shares[array_position(users, k.user_id)]) AS has
      FROM ledger_accounts k WHERE k.user_id = ANY (parties) ORDER BY k.user_id FOR NO KEY UPDATE) a;
  SELECT k.* INTO s FROM risk_settings k;
  t := clock_timestamp();
  FOREACH r IN ARRAY requests LOOP
    CONTINUE WHEN r.outcome IS NOT NULL;
    at := array_position(accounts, r.user_id);
    IF r.user_id = ANY (had) THEN
      r.outcome := CASE r.way WHEN 'free' THEN 'free_again' ELSE 'owned' END;
    ELSIF r.way = 'points' AND balances[at] < r.price THEN
      r.outcome := 'insufficient';
    ELSE
      counted := count_unlock(states[array_position(users, r.user_id)], r, s, t);
      r := counted.r;
      IF r.outcome = r.way THEN
        new_states := new_states || counted.state;
        IF r.way = 'points' THEN
          r.points := r.price;
          balances[at] := balances[at] - r.price;
          versions[at] := versions[at] + 1;
          r.transaction_id := new_ledger_id();
          r.balance_from := balances[at];
          r.version_from := versions[at];
          debited := debited || r;
        ELSE
          uses_week := uses_week OR r.way = 'weekly_free';
        END IF;
        new_unlocks := new_unlocks || r;
      END IF;
    END IF;
    RETURN NEXT r;
  END LOOP;
  IF cardinality(new_unlocks) = 0 THEN
    RETURN;
  END IF;
  -- Debits come before credits, so that no balance is below zero in between.
  FOREACH r IN ARRAY debited LOOP
    at := array_position(accounts, r.owner_id);
    balances[at] := balances[at] + r.price;
    versions[at] := versions[at] + 1;
    r.balance_to := balances[at];
    r.version_to := versions[at];
    paid := paid || r;
  END LOOP;
  INSERT INTO unlocks (user_id, share_id, via, points, application_id)
    SELECT u.user_id, u.share_id, u.way, u.points, u.application_id FROM unnest(new_unlocks) u;
  IF uses_week THEN
    UPDATE weekly_free f SET used = f.used + 1,
      bonus = CASE WHEN p_weekly_limit > 0 AND f.used >= p_weekly_limit THEN f.bonus - 1 ELSE f.bonus END
      FROM unnest(new_unlocks) u WHERE u.way = 'weekly_free' AND f.user_id = u.user_id;
  END IF;
  IF cardinality(paid) > 0 THEN
    INSERT INTO ledger_transactions (id, kind, ref)
      SELECT p.transaction_id, 'unlock', p.user_id || ':' || p.share_id FROM unnest(paid) p;
    UPDATE ledger_accounts k SET balance = a.balance, version = a.version
      FROM unnest(accounts, balances, versions) AS a (user_id, balance, version)
      WHERE k.user_id = a.user_id AND k.version <> a.version;
    INSERT INTO ledger_entries (transaction_id, position, user_id, amount, balance_after, account_version)
      SELECT p.transaction_id, e.position, e.user_id, e.amount, e.balance, e.version
      FROM unnest(paid) p, LATERAL (VALUES (1::smallint, p.user_id, -p.price, p.balance_from, p.version_from),
        (2::smallint, p.owner_id, p.price, p.balance_to, p.version_to)) e (position, user_id, amount, balance, version);
    INSERT INTO audit_events (type, user_id, application_id, credential_id, grant_id, details)
      SELECT 'unlock.charged', p.user_id, p.application_id, p.credential_id, p.grant_id,
        jsonb_build_object('share_id', p.share_id, 'points', p.price) FROM unnest(paid) p;
  END IF;
  IF has_webhook(p_applications) THEN
    PERFORM note_unlocks(new_unlocks);
  END IF;
  UPDATE risk_states k SET tier = w.tier, changed_at = w.changed_at, troubled_at = w.troubled_at,
    incident_at = w.incident_at, paused_at = w.paused_at, paused_until = w.paused_until, needs_review = w.needs_review,
    minute_tat = w.minute_tat, hour_tat = w.hour_tat, hits_at = w.hits_at, paid_at = w.paid_at,
    applications = w.applications, applications_at = w.applications_at, seen = w.seen
    FROM unnest(new_states) w WHERE k.user_id = w.user_id;
  -- Last: everybody who unlocks these shares waits for the rows.
  INSERT INTO share_counters AS c (share_id, unlocked_users_count)
    SELECT u.share_id, count(*) FROM unnest(new_unlocks) u GROUP BY u.share_id ORDER BY u.share_id
    ON CONFLICT (share_id) DO UPDATE SET unlocked_users_count = c.unlocked_users_count + excluded.unlocked_users_count;
END $$;
