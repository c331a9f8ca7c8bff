import type { MigrationInterface, QueryRunner } from 'typeorm';

// Several calls as one: so many tokens of each key and so many more of each quota. When something does not suffice for all
// of them nothing is taken, the answer is null, and each call is to be admitted by itself; else it is how far each key is
// ahead afterwards. Cheaper than admit_call() for a single call too.
const ADMIT_CALLS = `CREATE FUNCTION admit_calls(p_keys text[], p_interval_s float8[], p_bursts integer[], p_counts integer[],
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
  END $$`;

export class AdmitCallsTogether1763668801171 implements MigrationInterface {
  name = 'AdmitCallsTogether1763668801171';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(ADMIT_CALLS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION admit_calls');
  }
}
