import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  // Only users' accounts hold a balance. The system's own would be one row that every transfer waits for.
  `CREATE TABLE ledger_accounts (
    user_id bigint PRIMARY KEY CONSTRAINT ledger_accounts_user_id_fkey
      REFERENCES site_accounts (id) ON DELETE CASCADE,
    balance bigint NOT NULL DEFAULT 0 CONSTRAINT ledger_accounts_balance_check CHECK (balance >= 0),
    version bigint NOT NULL DEFAULT 0,
    CONSTRAINT ledger_accounts_version_check CHECK (version > 0 OR (version = 0 AND balance = 0))
  ) WITH (fillfactor = 70)`,
  `CREATE TABLE ledger_transactions (
    id uuid PRIMARY KEY,
    kind text NOT NULL
      CONSTRAINT ledger_transactions_kind_check CHECK (kind IN ('unlock', 'check_in', 'grant', 'share_deletion')),
    ref text NOT NULL CONSTRAINT ledger_transactions_ref_check CHECK (length(ref) BETWEEN 1 AND 200),
    actor_id bigint,
    note text CONSTRAINT ledger_transactions_note_check CHECK (length(note) <= 500),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ledger_transactions_kind_ref_key UNIQUE (kind, ref)
  )`,
  `CREATE TABLE ledger_entries (
    transaction_id uuid NOT NULL CONSTRAINT ledger_entries_transaction_id_fkey REFERENCES ledger_transactions (id),
    position smallint NOT NULL CONSTRAINT ledger_entries_position_check CHECK (position IN (1, 2)),
    user_id bigint,
    system_account text
      CONSTRAINT ledger_entries_system_account_check CHECK (system_account IN ('grants', 'check_ins', 'fees')),
    amount bigint NOT NULL CONSTRAINT ledger_entries_amount_check CHECK (amount <> 0),
    balance_after bigint CONSTRAINT ledger_entries_balance_after_check CHECK (balance_after >= 0),
    account_version bigint CONSTRAINT ledger_entries_account_version_check CHECK (account_version > 0),
    CONSTRAINT ledger_entries_pkey PRIMARY KEY (transaction_id, position),
    CONSTRAINT ledger_entries_party_check CHECK (CASE WHEN user_id IS NULL
      THEN system_account IS NOT NULL AND num_nulls(balance_after, account_version) = 2
      ELSE system_account IS NULL AND num_nulls(balance_after, account_version) = 0 END)
  )`,
  'CREATE UNIQUE INDEX ledger_entries_chain_key ON ledger_entries (user_id, account_version) WHERE user_id IS NOT NULL',
];

/** What must hold at every commit, whoever writes. */
const RULES = [
  `CREATE FUNCTION refuse_change_of_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'the ledger is never changed or removed' USING ERRCODE = 'restrict_violation';
  END $$`,
  ...['ledger_transactions', 'ledger_entries'].flatMap((table) => [
    `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION refuse_change_of_ledger()`,
    `CREATE TRIGGER ${table}_no_truncate BEFORE TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger()`,
  ]),
  // A transaction takes its two entries in the database transaction that makes it, or none ever: there is no third place.
  `CREATE FUNCTION check_ledger_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    entries integer;
    total bigint;
    continued boolean;
  BEGIN
    SELECT count(*), sum(e.amount), bool_and(e.user_id IS NULL OR e.balance_after - e.amount IS NOT DISTINCT FROM
        CASE e.account_version WHEN 1 THEN 0 ELSE (SELECT before.balance_after FROM ledger_entries before
          WHERE before.user_id = e.user_id AND before.account_version = e.account_version - 1) END)
      INTO entries, total, continued FROM ledger_entries e WHERE e.transaction_id = NEW.id;
    IF entries <> 2 THEN
      RAISE EXCEPTION 'transaction % has % entries', NEW.id, entries USING ERRCODE = 'check_violation';
    ELSIF total <> 0 THEN
      RAISE EXCEPTION 'transaction % does not sum to zero', NEW.id USING ERRCODE = 'check_violation';
    ELSIF NOT continued THEN
      RAISE EXCEPTION 'transaction % does not continue its accounts', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE CONSTRAINT TRIGGER ledger_transactions_balanced AFTER INSERT ON ledger_transactions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_ledger_transaction()`,
  `CREATE FUNCTION check_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM ledger_entries WHERE user_id = NEW.user_id
      AND account_version = NEW.version AND balance_after = NEW.balance) THEN
      RAISE EXCEPTION 'the balance of account % has no entry', NEW.user_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE CONSTRAINT TRIGGER ledger_accounts_entered AFTER INSERT OR UPDATE ON ledger_accounts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.version > 0) EXECUTE FUNCTION check_ledger_account()`,
];

/** Every user has an account from the start, so that no transfer has to make one. */
const ACCOUNTS = [
  'INSERT INTO ledger_accounts (user_id) SELECT id FROM site_accounts',
  `CREATE FUNCTION open_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO ledger_accounts (user_id) VALUES (NEW.id);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER site_accounts_open_ledger_account AFTER INSERT ON site_accounts
    FOR EACH ROW EXECUTE FUNCTION open_ledger_account()`,
];

const FUNCTIONS = [
  // RFC 9562 section 5.7. PostgreSQL has one of its own only from 18 on.
  `CREATE FUNCTION new_ledger_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
  $$`,
  // Everybody locks accounts in the order of user ids: two transfers that cross cannot wait for each other.
  `CREATE FUNCTION lock_ledger_accounts(p_one bigint, p_other bigint) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    locked integer;
  BEGIN
    PERFORM 1 FROM ledger_accounts WHERE user_id IN (p_one, p_other) ORDER BY user_id FOR NO KEY UPDATE;
    GET DIAGNOSTICS locked = ROW_COUNT;
    IF locked < num_nonnulls(p_one, p_other) THEN
      RAISE EXCEPTION 'no such account' USING ERRCODE = 'foreign_key_violation';
    END IF;
  END $$`,
  // A party that is null is the system account. GL402: the balance does not suffice. GL409: kind and ref belong to
  // another transfer. A repeated one moves nothing and answers with what it did the first time.
  `CREATE FUNCTION ledger_transfer(p_kind text, p_ref text, p_from bigint, p_to bigint, p_system text,
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
  END $$`,
];

export class CreatePointsLedger1763668801120 implements MigrationInterface {
  name = 'CreatePointsLedger1763668801120';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES, ...RULES, ...ACCOUNTS, ...FUNCTIONS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of ['ledger_transfer', 'lock_ledger_accounts', 'new_ledger_id']) {
      await queryRunner.query(`DROP FUNCTION ${name}`);
    }
    await queryRunner.query('DROP TABLE ledger_entries, ledger_transactions, ledger_accounts');
    await queryRunner.query('DROP TRIGGER site_accounts_open_ledger_account ON site_accounts');
    const triggers = [
      'open_ledger_account',
      'check_ledger_account',
      'check_ledger_transaction',
      'refuse_change_of_ledger',
    ];
    for (const name of triggers) await queryRunner.query(`DROP FUNCTION ${name}()`);
  }
}
