import type { MigrationInterface, QueryRunner } from 'typeorm';

const LIMIT = (name: string): string =>
  `${name} integer CONSTRAINT quota_profiles_${name}_check CHECK (${name} BETWEEN 1 AND 1000000000)`;

// For functions of every call: planned anew at each call they took longer to plan than to run.
const PLANS = 'SET plan_cache_mode = force_generic_plan SET enable_seqscan = off';

const STATEMENTS = [
  // An absent number is no limit. `default` and `personal` (for personal keys) are there from the start.
  `CREATE TABLE quota_profiles (
    name text PRIMARY KEY CONSTRAINT quota_profiles_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,49}$'),
    ${LIMIT('app_per_minute')},
    ${LIMIT('app_burst_per_second')},
    ${LIMIT('app_address_per_minute')},
    ${LIMIT('user_per_minute')},
    ${LIMIT('app_per_day')},
    ${LIMIT('user_per_day')},
    ${LIMIT('addresses_per_day')},
    group_per_minute jsonb NOT NULL DEFAULT '{}' CONSTRAINT quota_profiles_group_check
      CHECK (jsonb_typeof(group_per_minute) = 'object'),
    endpoint_per_day jsonb NOT NULL DEFAULT '{}' CONSTRAINT quota_profiles_endpoint_check
      CHECK (jsonb_typeof(endpoint_per_day) = 'object'),
    updated_at timestamptz NOT NULL DEFAULT now()
  )`,
  `INSERT INTO quota_profiles (name, app_per_minute, app_burst_per_second, app_address_per_minute, user_per_minute,
      app_per_day, user_per_day, addresses_per_day, group_per_minute) VALUES
    ('default', 6000, 500, 3000, 1200, 200000, 20000, NULL,
      '{"meta": 600, "query": 1200, "unlock": 600, "write": 600, "vip": 600}'),
    ('personal', 1200, 300, 1200, 1200, 20000, 20000, 100,
      '{"meta": 600, "query": 1200, "unlock": 600, "write": 600, "vip": 600}')`,
  // Theoretical arrival times of GCRA. Not logged: a crash may forget the last minute. A time that has come says nothing.
  'CREATE UNLOGGED TABLE rate_limits (key text PRIMARY KEY, tat timestamptz NOT NULL) WITH (fillfactor = 50)',
  `CREATE TABLE quota_used (
    key text NOT NULL,
    day date NOT NULL,
    used bigint NOT NULL,
    CONSTRAINT quota_used_pkey PRIMARY KEY (key, day)
  ) WITH (fillfactor = 70)`,
  'CREATE INDEX quota_used_day_idx ON quota_used (day)',
  `CREATE TABLE credential_addresses (
    credential_id bigint NOT NULL,
    day date NOT NULL,
    address text NOT NULL,
    CONSTRAINT credential_addresses_pkey PRIMARY KEY (credential_id, day, address)
  )`,
  'CREATE INDEX credential_addresses_day_idx ON credential_addresses (day)',
  // GCRA for several different keys. Each gets as many as it may of what it asks for; with p_all everything or nothing.
  // room: what it could have got. ahead_s: how far its arrival time is ahead afterwards. Rows are locked in one order.
  // The table begins empty and grows by the thousand in a minute: a plan made meanwhile must not read all of it.
  `CREATE FUNCTION take_tokens(p_keys text[], p_interval_s float8[], p_bursts integer[], p_costs integer[], p_all boolean)
  RETURNS TABLE (granted integer, room integer, ahead_s float8) LANGUAGE plpgsql ${PLANS} AS $$
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
  END $$`,
  // One more of each for the day, or of none: the number of the first key that is used up, or 0.
  `CREATE FUNCTION reserve_quota(p_keys text[], p_limits bigint[], p_day date, OUT exceeded integer)
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
  END $$`,
  `CREATE FUNCTION admit_address(p_credential bigint, p_day date, p_address text, p_most integer) RETURNS boolean
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
  END $$`,
  // One token of each key and one more of each daily quota, or the reasons why not; tokens stay taken when a quota is used
  // up. Its commit waits for no disk: a crash of the server may forget the last second, as it may of reads. When
  // nothing is refused this takes half of what take_tokens() does.
  `CREATE FUNCTION admit_call(p_keys text[], p_interval_s float8[], p_bursts integer[], p_quota_keys text[],
    p_quotas bigint[], p_day date, OUT granted boolean, OUT rooms integer[], OUT aheads_s float8[], OUT exceeded integer)
  LANGUAGE plpgsql ${PLANS} AS $$
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
    END IF;
  END $$`,
];

const DROPS = [
  'DROP FUNCTION admit_call',
  'DROP FUNCTION admit_address(bigint, date, text, integer)',
  'DROP FUNCTION reserve_quota(text[], bigint[], date)',
  'DROP FUNCTION take_tokens(text[], float8[], integer[], integer[], boolean)',
  'DROP TABLE credential_addresses, quota_used, rate_limits, quota_profiles',
];

export class CreateLimits1763668801131 implements MigrationInterface {
  name = 'CreateLimits1763668801131';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DROPS) await queryRunner.query(statement);
  }
}
