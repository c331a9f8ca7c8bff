-- Of PostgresLimitStore and AddressCounts (src/limits) and DailyQuotas.reserve (src/quota).
--
-- Promises: over all replicas a limit lets as many through as it says; a call that is refused takes nothing, neither
-- tokens nor quota. Rows are locked in the order of their keys. Plans are made once: planned at each call they took
-- longer to plan than to run.

-- GCRA for several different keys. Each gets as many as it may of what it asks for; with p_all everything or nothing.
-- room: what it could have got. ahead_s: how far its arrival time is ahead afterwards. The table begins empty and
-- grows by the thousand in a minute: a plan made meanwhile must not read all of it.
CREATE OR REPLACE FUNCTION take_tokens(p_keys text[], p_interval_s float8[], p_bursts integer[], p_costs integer[], p_all boolean)
RETURNS TABLE (granted integer, room integer, ahead_s float8) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  t timestamptz;
  locked integer;
BEGIN
  LOOP
    SELECT count(*) INTO locked
      FROM (SELECT FROM rate_limits r WHERE r.key = ANY (p_keys) ORDER BY r.key FOR NO KEY UPDATE) rows_of_keys;
    EXIT WHEN locked = cardinality(p_keys);
    INSERT INTO rate_limits (key, tat) SELECT k, '-infinity' FROM unnest(p_keys) k ORDER BY k ON CONFLICT DO NOTHING;
  END LOOP;
  t := clock_timestamp();
  RETURN QUERY
    WITH asked AS (
      SELECT a.*, greatest(r.tat, t) AS start
      FROM unnest(p_keys, p_interval_s, p_bursts, p_costs) WITH ORDINALITY AS a (key, interval_s, burst, cost, i)
      JOIN rate_limits r ON r.key = a.key
    ), measured AS (
      SELECT *, greatest(0, floor(burst + 1e-6 - extract(epoch FROM start - t)::float8 / interval_s))::integer AS free
      FROM asked
    ), decided AS (
      SELECT *, CASE WHEN p_all AND bool_or(free < cost) OVER () THEN 0 ELSE least(free, cost) END AS given
      FROM measured
    ), moved AS (
      UPDATE rate_limits r SET tat = d.start + make_interval(secs => d.given * d.interval_s)
      FROM decided d WHERE r.key = d.key AND d.given > 0
    )
    SELECT d.given, d.free, extract(epoch FROM d.start - t)::float8 + d.given * d.interval_s FROM decided d ORDER BY d.i;
END $$;

-- One more of each for the day, or of none: the number of the first key that is used up, or 0.
CREATE OR REPLACE FUNCTION reserve_quota(p_keys text[], p_limits bigint[], p_day date, OUT exceeded integer)
LANGUAGE plpgsql AS $$
DECLARE
  asked record;
  taken_keys text[] := '{}';
BEGIN
  exceeded := 0;
  FOR asked IN SELECT * FROM unnest(p_keys, p_limits) WITH ORDINALITY AS a (key, most, i) ORDER BY a.key LOOP
    INSERT INTO quota_used AS kept (key, day, used) VALUES (asked.key, p_day, 1)
      ON CONFLICT (key, day) DO UPDATE SET used = kept.used + 1 WHERE kept.used < asked.most;
    IF FOUND THEN
      taken_keys := taken_keys || asked.key;
    ELSE
      exceeded := asked.i;
      UPDATE quota_used SET used = used - 1 WHERE day = p_day AND key = ANY (taken_keys);
      RETURN;
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION admit_address(p_credential bigint, p_day date, p_address text, p_most integer) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM credential_addresses
    WHERE credential_id = p_credential AND day = p_day AND address = p_address) THEN
    RETURN true;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('credential-addresses ' || p_credential, 0));
  IF (SELECT count(*) FROM credential_addresses WHERE credential_id = p_credential AND day = p_day) >= p_most THEN
    RETURN EXISTS (SELECT FROM credential_addresses
      WHERE credential_id = p_credential AND day = p_day AND address = p_address);
  END IF;
  INSERT INTO credential_addresses VALUES (p_credential, p_day, p_address) ON CONFLICT DO NOTHING;
  RETURN true;
END $$;

-- One token of each key and one more of each daily quota, or the reasons why not. Its commit waits for no disk: a
-- crash of the server may forget the last second, as it may of reads. When nothing is refused this takes half of what
-- take_tokens() does.
CREATE OR REPLACE FUNCTION admit_call(p_keys text[], p_interval_s float8[], p_bursts integer[], p_quota_keys text[],
  p_quotas bigint[], p_day date, OUT granted boolean, OUT rooms integer[], OUT aheads_s float8[], OUT exceeded integer)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  t timestamptz := clock_timestamp();
  step interval;
  n integer;
  ahead float8;
  taken integer[] := '{}';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  granted := true;
  exceeded := 0;
  FOR n IN SELECT i FROM unnest(p_keys) WITH ORDINALITY AS k (key, i) ORDER BY key LOOP
    step := make_interval(secs => p_interval_s[n]);
    UPDATE rate_limits r SET tat = greatest(r.tat, t) + step
      WHERE r.key = p_keys[n] AND greatest(r.tat, t) <= t + make_interval(secs => p_interval_s[n] * (p_bursts[n] - 1 + 1e-6))
      RETURNING extract(epoch FROM r.tat - t)::float8 INTO ahead;
    IF NOT FOUND THEN
      INSERT INTO rate_limits (key, tat) VALUES (p_keys[n], t + step) ON CONFLICT DO NOTHING;
      granted := FOUND;
      EXIT WHEN NOT granted;
      ahead := p_interval_s[n];
    END IF;
    taken := taken || n;
    aheads_s[n] := ahead;
    rooms[n] := greatest(1, floor(p_bursts[n] + 1e-6 - (ahead - p_interval_s[n]) / p_interval_s[n]));
  END LOOP;
  IF NOT granted THEN
    FOREACH n IN ARRAY taken LOOP
      UPDATE rate_limits r SET tat = r.tat - make_interval(secs => p_interval_s[n]) WHERE r.key = p_keys[n];
    END LOOP;
    SELECT bool_and(a.granted = 1), array_agg(a.room ORDER BY i), array_agg(a.ahead_s ORDER BY i) INTO granted, rooms, aheads_s
      FROM take_tokens(p_keys, p_interval_s, p_bursts, array_fill(1, ARRAY[cardinality(p_keys)]), true)
        WITH ORDINALITY AS a (granted, room, ahead_s, i);
  END IF;
  IF granted AND cardinality(p_quota_keys) > 0 THEN
    SELECT q.exceeded INTO exceeded FROM reserve_quota(p_quota_keys, p_quotas, p_day) q;
    IF exceeded > 0 THEN
      FOR n IN 1 .. cardinality(p_keys) LOOP
        UPDATE rate_limits r SET tat = r.tat - make_interval(secs => p_interval_s[n]) WHERE r.key = p_keys[n];
        aheads_s[n] := aheads_s[n] - p_interval_s[n];
      END LOOP;
    END IF;
  END IF;
END $$;

-- Several calls as one: so many tokens of each key and so many more of each quota. When something does not suffice
-- for all of them nothing is taken, the answer is null, and each call is to be admitted by itself; else it is how far
-- each key is ahead afterwards. Cheaper than admit_call() for a single call too.
CREATE OR REPLACE FUNCTION admit_calls(p_keys text[], p_interval_s float8[], p_bursts integer[], p_counts integer[],
  p_quota_keys text[], p_days date[], p_quotas bigint[], p_quota_counts integer[], OUT aheads_s float8[])
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  t timestamptz := clock_timestamp();
  exceeded boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '1s', true);
  WITH asked AS (
    SELECT * FROM unnest(p_keys, p_interval_s, p_bursts, p_counts) WITH ORDINALITY AS a (key, interval_s, burst, count, i)
  ), moved AS (
    INSERT INTO rate_limits AS r (key, tat) SELECT key, t + make_interval(secs => interval_s * count) FROM asked ORDER BY key
      ON CONFLICT (key) DO UPDATE SET tat = greatest(r.tat, t) + (excluded.tat - t) RETURNING key, tat
  )
  SELECT coalesce(array_agg(ahead_s ORDER BY i), '{}'), coalesce(bool_or(ahead_s > interval_s * (burst + 1e-6)), false)
    INTO aheads_s, exceeded
    FROM (SELECT a.*, extract(epoch FROM m.tat - t)::float8 AS ahead_s FROM asked a JOIN moved m ON m.key = a.key) answers;
  IF NOT exceeded AND cardinality(p_quota_keys) > 0 THEN
    WITH asked AS (
      SELECT * FROM unnest(p_quota_keys, p_days, p_quotas, p_quota_counts) AS a (key, day, quota, count)
    ), moved AS (
      INSERT INTO quota_used AS kept (key, day, used) SELECT key, day, count FROM asked ORDER BY key, day
        ON CONFLICT (key, day) DO UPDATE SET used = kept.used + excluded.used RETURNING key, day, used
    )
    SELECT bool_or(m.used > a.quota) INTO exceeded FROM asked a JOIN moved m ON m.key = a.key AND m.day = a.day;
    IF exceeded THEN
      UPDATE quota_used k SET used = k.used - a.count
        FROM unnest(p_quota_keys, p_days, p_quota_counts) AS a (key, day, count) WHERE k.key = a.key AND k.day = a.day;
    END IF;
  END IF;
  IF exceeded THEN
    UPDATE rate_limits r SET tat = r.tat - make_interval(secs => a.interval_s * a.count)
      FROM unnest(p_keys, p_interval_s, p_counts) AS a (key, interval_s, count) WHERE r.key = a.key;
    aheads_s := NULL;
  END IF;
END $$;
