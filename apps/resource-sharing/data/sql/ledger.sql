-- Points: accounts, transactions of two entries, and the rules that both keep. Of PointsLedger.transfer (src/points),
-- and of the functions that unlock shares and check in.
--
-- Promises: the entries of a transaction add up to nothing; an account has the balance of its last entry and its
-- version only grows; nothing of the ledger is changed, removed or truncated, whoever writes; kind and ref name a
-- transfer, and a repeat moves nothing. Accounts are locked in the order of user ids.

-- What is written stays.
CREATE OR REPLACE FUNCTION refuse_change_of_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is never changed or removed' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER ledger_transactions_append_only BEFORE UPDATE OR DELETE ON ledger_transactions
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_ledger();

CREATE OR REPLACE TRIGGER ledger_transactions_no_truncate BEFORE TRUNCATE ON ledger_transactions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger();

CREATE OR REPLACE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE ON ledger_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_ledger();

CREATE OR REPLACE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger();

CREATE OR REPLACE TRIGGER ledger_accounts_no_truncate BEFORE TRUNCATE ON ledger_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger();

-- What was paid for stays unlocked.
CREATE OR REPLACE TRIGGER unlocks_kept BEFORE DELETE ON unlocks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_ledger();

CREATE OR REPLACE TRIGGER unlocks_no_truncate BEFORE TRUNCATE ON unlocks
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger();

-- A transaction takes its two entries in the database transaction that makes it, or none ever. So the check of a new
-- transaction sees every new entry, and no entry needs one of its own: their accounts have come as far as they say.
CREATE OR REPLACE FUNCTION check_ledger_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT count(*) = 2 AND sum(e.amount) = 0 AND bool_and(e.user_id IS NULL
      OR (SELECT a.version >= e.account_version FROM ledger_accounts a WHERE a.user_id = e.user_id) IS TRUE
      AND e.balance_after - e.amount IS NOT DISTINCT FROM CASE e.account_version WHEN 1 THEN 0
        ELSE (SELECT before.balance_after FROM ledger_entries before
          WHERE before.user_id = e.user_id AND before.account_version = e.account_version - 1) END)
    FROM ledger_entries e WHERE e.transaction_id = NEW.id) THEN
    RETURN NULL;
  END IF;
  PERFORM refuse_ledger_transaction(NEW.id);
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS ledger_transactions_balanced ON ledger_transactions;
CREATE CONSTRAINT TRIGGER ledger_transactions_balanced AFTER INSERT ON ledger_transactions
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_ledger_transaction();

DROP TRIGGER IF EXISTS ledger_entries_accounted ON ledger_entries;

-- Looks at the account as it is at the commit. What its version names must be there; that no entry is ahead of it is
-- the check of their transactions.
CREATE OR REPLACE FUNCTION check_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT a.version = 0 OR (SELECT e.balance_after FROM ledger_entries e
      WHERE e.user_id = a.user_id AND e.account_version = a.version) = a.balance
    FROM ledger_accounts a WHERE a.user_id = NEW.user_id) THEN
    RETURN NULL;
  END IF;
  PERFORM refuse_ledger_account(NEW.user_id);
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS ledger_accounts_entered ON ledger_accounts;
CREATE CONSTRAINT TRIGGER ledger_accounts_entered AFTER INSERT OR UPDATE ON ledger_accounts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_ledger_account();

-- Says what is wrong with a transaction.
CREATE OR REPLACE FUNCTION refuse_ledger_transaction(p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  entries integer;
  total bigint;
  continued boolean;
  ahead bigint;
BEGIN
  SELECT count(*), sum(e.amount), bool_and(e.user_id IS NULL OR e.balance_after - e.amount IS NOT DISTINCT FROM
      CASE e.account_version WHEN 1 THEN 0 ELSE (SELECT before.balance_after FROM ledger_entries before
        WHERE before.user_id = e.user_id AND before.account_version = e.account_version - 1) END),
      min(e.user_id) FILTER (WHERE (SELECT a.version >= e.account_version FROM ledger_accounts a
        WHERE a.user_id = e.user_id) IS NOT TRUE)
    INTO entries, total, continued, ahead FROM ledger_entries e WHERE e.transaction_id = p_id;
  IF entries <> 2 THEN
    RAISE EXCEPTION 'transaction % has % entries', p_id, entries USING ERRCODE = 'check_violation';
  ELSIF total <> 0 THEN
    RAISE EXCEPTION 'transaction % does not sum to zero', p_id USING ERRCODE = 'check_violation';
  ELSIF NOT continued THEN
    RAISE EXCEPTION 'transaction % does not continue its accounts', p_id USING ERRCODE = 'check_violation';
  END IF;
  PERFORM refuse_ledger_account(ahead);
END $$;

-- Says what is wrong with an account.
CREATE OR REPLACE FUNCTION refuse_ledger_account(p_user bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  present bigint;
  balance bigint;
  latest bigint;
  entered bigint;
BEGIN
  SELECT a.version, a.balance, e.account_version, e.balance_after INTO present, balance, latest, entered
    FROM ledger_accounts a LEFT JOIN LATERAL (SELECT l.account_version, l.balance_after FROM ledger_entries l
      WHERE l.user_id = a.user_id ORDER BY l.account_version DESC LIMIT 1) e ON true WHERE a.user_id = p_user;
  IF present IS NULL THEN
    RAISE EXCEPTION 'account % does not exist', p_user USING ERRCODE = 'check_violation';
  ELSIF present <> coalesce(latest, 0) THEN
    RAISE EXCEPTION 'account % is at version %, and its last entry at %', p_user, present,
      coalesce(latest, 0) USING ERRCODE = 'check_violation';
  END IF;
  RAISE EXCEPTION 'the balance of account % has no entry', p_user USING ERRCODE = 'check_violation';
END $$;

CREATE OR REPLACE FUNCTION keep_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.version > 0 THEN
      RAISE EXCEPTION 'account % has entries and is never removed', OLD.user_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  ELSIF NEW.user_id <> OLD.user_id OR NEW.version <= OLD.version THEN
    RAISE EXCEPTION 'the version of account % only grows', OLD.user_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER ledger_accounts_kept BEFORE UPDATE OR DELETE ON ledger_accounts
  FOR EACH ROW EXECUTE FUNCTION keep_ledger_account();

-- Every user has an account from the start, so that no transfer has to make one.
CREATE OR REPLACE FUNCTION open_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_accounts (user_id) VALUES (NEW.id);
  RETURN NULL;
END $$;

-- A UUID of version 7, RFC 9562 section 5.7. PostgreSQL has one of its own only from 18 on.
CREATE OR REPLACE FUNCTION new_ledger_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((date_part('epoch', clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid
$$;

-- Everybody locks accounts in the order of user ids: two transfers that cross cannot wait for each other.
CREATE OR REPLACE FUNCTION lock_ledger_accounts(p_one bigint, p_other bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  locked integer;
BEGIN
  PERFORM 1 FROM ledger_accounts WHERE user_id IN (p_one, p_other) ORDER BY user_id FOR NO KEY UPDATE;
  GET DIAGNOSTICS locked = ROW_COUNT;
  IF locked < num_nonnulls(p_one, p_other) THEN
    RAISE EXCEPTION 'no such account' USING ERRCODE = 'foreign_key_violation';
  END IF;
END $$;

-- A party that is null is the system account. GL402: the balance does not suffice. GL409: kind and ref belong to
-- another transfer. A repeated one moves nothing and answers with what it did the first time.
CREATE OR REPLACE FUNCTION ledger_transfer(p_kind text, p_ref text, p_from bigint, p_to bigint, p_system text,
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
  -- The updates lock: the one of the lower id comes first.
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
END $$;
