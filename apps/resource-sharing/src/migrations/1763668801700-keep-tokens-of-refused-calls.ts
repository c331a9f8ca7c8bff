import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A call that a quota refuses has its tokens back: it must not cost the calls that no quota holds for. */
const GIVE_BACK = `
      IF exceeded > 0 THEN
        FOR n IN 1 .. cardinality(p_keys) LOOP
          UPDATE rate_limits r SET tat = r.tat - make_interval(secs => p_interval_s[n]) WHERE r.key = p_keys[n];
          aheads_s[n] := aheads_s[n] - p_interval_s[n];
        END LOOP;
      END IF;`;

function admitCall(giveBack: string): string {
  return `CREATE OR REPLACE FUNCTION admit_call(p_keys text[], p_interval_s float8[], p_bursts integer[], p_quota_keys text[],
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
      SELECT q.exceeded INTO exceeded FROM reserve_quota(p_quota_keys, p_quotas, p_day) q;${giveBack}
    END IF;
  END $$`;
}

export class KeepTokensOfRefusedCalls1763668801700 implements MigrationInterface {
  name = 'KeepTokensOfRefusedCalls1763668801700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(admitCall(GIVE_BACK));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(admitCall(''));
  }
}
