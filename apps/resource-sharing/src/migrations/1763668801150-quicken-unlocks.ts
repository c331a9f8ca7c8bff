import type { MigrationInterface, QueryRunner } from 'typeorm';

// Most of what an unlock cost was planning its statements anew, and reading tables whole that were small when they were planned.
const PLANS = 'SET plan_cache_mode = force_generic_plan SET enable_seqscan = off';

const STATEMENTS = [
  // As before, with fewer statements: accounts are locked by the updates themselves, the one of the lower id first.
  `CREATE OR REPLACE FUNCTION ledger_transfer(p_kind text, p_ref text, p_from bigint, p_to bigint, p_system text,
    p_amount bigint, p_at_most boolean DEFAULT false, p_actor bigint DEFAULT NULL, p_note text DEFAULT NULL,
    OUT transaction_id uuid, OUT moved bigint, OUT from_balance bigint, OUT to_balance bigint, OUT replayed boolean)
  LANGUAGE plpgsql AS $$
  DECLARE
    present bigint;
    from_version bigint;
    to_version bigint;
  BEGIN
    IF p_amount IS NULL OR p_amount <= 0 OR p_from = p_to OR (p_from IS NULL AND p_to IS NULL)
      OR (p_system IS NULL) <> (num_nonnulls(p_from, p_to) = 2) THEN
      RAISE EXCEPTION 'not a transfer' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    moved := p_amount;
    replayed := false;
    IF p_at_most THEN
      PERFORM lock_ledger_accounts(p_from, p_to);
      SELECT balance INTO present FROM ledger_accounts WHERE user_id = p_from;
      moved := least(p_amount, present);
    END IF;
    IF moved > 0 THEN
      INSERT INTO ledger_transactions (id, kind, ref, actor_id, note)
        VALUES (new_ledger_id(), p_kind, p_ref, p_actor, p_note)
        ON CONFLICT (kind, ref) DO NOTHING RETURNING id INTO transaction_id;
    END IF;
    IF transaction_id IS NULL THEN
      SELECT t.id, e.amount, e.balance_after, f.balance_after INTO transaction_id, moved, to_balance, from_balance
        FROM ledger_transactions t
        JOIN ledger_entries e ON e.transaction_id = t.id AND e.position = 2
          AND e.user_id IS NOT DISTINCT FROM p_to AND (p_to IS NOT NULL OR e.system_account = p_system)
          AND (e.amount = p_amount OR p_at_most)
        JOIN ledger_entries f ON f.transaction_id = t.id AND f.position = 1
          AND f.user_id IS NOT DISTINCT FROM p_from AND (p_from IS NOT NULL OR f.system_account = p_system)
        WHERE t.kind = p_kind AND t.ref = p_ref;
      IF FOUND THEN
        replayed := true;
      ELSIF EXISTS (SELECT FROM ledger_transactions t WHERE t.kind = p_kind AND t.ref = p_ref) THEN
        RAISE EXCEPTION 'another transfer has the ref % %', p_kind, p_ref USING ERRCODE = 'GL409';
      ELSE
        moved := 0;
        from_balance := present;
      END IF;
      RETURN;
    END IF;
    IF p_to < p_from THEN
      UPDATE ledger_accounts SET balance = balance + moved, version = version + 1
        WHERE user_id = p_to RETURNING balance, version INTO to_balance, to_version;
    END IF;
    IF p_from IS NOT NULL THEN
      UPDATE ledger_accounts SET balance = balance - moved, version = version + 1
        WHERE user_id = p_from AND balance >= moved RETURNING balance, version INTO from_balance, from_version;
      IF NOT FOUND AND EXISTS (SELECT FROM ledger_accounts WHERE user_id = p_from) THEN
        RAISE EXCEPTION 'the balance of account % is below %', p_from, moved USING ERRCODE = 'GL402';
      END IF;
    END IF;
    IF p_to IS NOT NULL AND to_version IS NULL THEN
      UPDATE ledger_accounts SET balance = balance + moved, version = version + 1
        WHERE user_id = p_to RETURNING balance, version INTO to_balance, to_version;
    END IF;
    IF num_nonnulls(from_version, to_version) < num_nonnulls(p_from, p_to) THEN
      RAISE EXCEPTION 'no such account' USING ERRCODE = 'foreign_key_violation';
    END IF;
    INSERT INTO ledger_entries (transaction_id, position, user_id, system_account, amount, balance_after, account_version)
      VALUES (ledger_transfer.transaction_id, 1, p_from, CASE WHEN p_from IS NULL THEN p_system END, -moved, from_balance, from_version),
        (ledger_transfer.transaction_id, 2, p_to, CASE WHEN p_to IS NULL THEN p_system END, moved, to_balance, to_version);
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
  `ALTER FUNCTION unlock_share_watched ${PLANS}`,
  'ALTER FUNCTION take_tokens SET plan_cache_mode = force_generic_plan',
];

export class QuickenUnlocks1763668801150 implements MigrationInterface {
  name = 'QuickenUnlocks1763668801150';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  /** ledger_transfer() stays: it does what it did. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER FUNCTION take_tokens RESET plan_cache_mode');
    await queryRunner.query('ALTER FUNCTION unlock_share_watched RESET plan_cache_mode RESET enable_seqscan');
    await queryRunner.query('DROP FUNCTION admit_call');
  }
}
