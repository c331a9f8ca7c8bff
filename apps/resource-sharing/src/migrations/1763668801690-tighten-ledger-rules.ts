import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rules that hold at every commit, whoever writes; the account is looked at as it is then. */
const CHECK_ACCOUNT = `CREATE OR REPLACE FUNCTION check_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    account ledger_accounts%ROWTYPE;
    latest bigint;
  BEGIN
    SELECT * INTO account FROM ledger_accounts WHERE user_id = NEW.user_id;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'account % does not exist', NEW.user_id USING ERRCODE = 'check_violation';
    END IF;
    SELECT max(account_version) INTO latest FROM ledger_entries WHERE user_id = NEW.user_id;
    IF account.version <> coalesce(latest, 0) THEN
      RAISE EXCEPTION 'account % is at version %, and its last entry at %', NEW.user_id, account.version,
        coalesce(latest, 0) USING ERRCODE = 'check_violation';
    ELSIF account.version > 0 AND NOT EXISTS (SELECT FROM ledger_entries WHERE user_id = NEW.user_id
      AND account_version = account.version AND balance_after = account.balance) THEN
      RAISE EXCEPTION 'the balance of account % has no entry', NEW.user_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
  END $$`;

const LEDGER = [
  CHECK_ACCOUNT,
  'DROP TRIGGER ledger_accounts_entered ON ledger_accounts',
  `CREATE CONSTRAINT TRIGGER ledger_accounts_entered AFTER INSERT OR UPDATE ON ledger_accounts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_ledger_account()`,
  `CREATE CONSTRAINT TRIGGER ledger_entries_accounted AFTER INSERT ON ledger_entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.user_id IS NOT NULL) EXECUTE FUNCTION check_ledger_account()`,
  `CREATE FUNCTION keep_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
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
  END $$`,
  `CREATE TRIGGER ledger_accounts_kept BEFORE UPDATE OR DELETE ON ledger_accounts
    FOR EACH ROW EXECUTE FUNCTION keep_ledger_account()`,
  `CREATE TRIGGER ledger_accounts_no_truncate BEFORE TRUNCATE ON ledger_accounts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger()`,
  // What was paid for stays unlocked.
  `CREATE TRIGGER unlocks_kept BEFORE DELETE ON unlocks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_ledger()`,
  `CREATE TRIGGER unlocks_no_truncate BEFORE TRUNCATE ON unlocks
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_ledger()`,
];

const EVENTS = [
  // Events leave after 400 days, once the audit log has them: they hold addresses of people.
  `CREATE OR REPLACE FUNCTION refuse_change_of_audit_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
      IF OLD.created_at < now() - interval '400 days'
        AND NOT EXISTS (SELECT FROM unchained_events WHERE event_id = OLD.id) THEN
        RETURN OLD;
      END IF;
    END IF;
    RAISE EXCEPTION 'audit events are never changed or removed' USING ERRCODE = 'restrict_violation';
  END $$`,
  `CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_event()`,
];

const INDEXES = [
  'CREATE INDEX audit_events_type_idx ON audit_events (type text_pattern_ops, id)',
  'CREATE INDEX refresh_tokens_sealed_idx ON refresh_tokens (consumed_at) WHERE successor_sealed IS NOT NULL',
];

export class TightenLedgerRules1763668801690 implements MigrationInterface {
  name = 'TightenLedgerRules1763668801690';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...LEDGER, ...EVENTS, ...INDEXES]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const index of ['audit_events_type_idx', 'refresh_tokens_sealed_idx']) {
      await queryRunner.query(`DROP INDEX ${index}`);
    }
    for (const [trigger, table] of [
      ['audit_events_no_truncate', 'audit_events'],
      ['unlocks_no_truncate', 'unlocks'],
      ['unlocks_kept', 'unlocks'],
      ['ledger_accounts_no_truncate', 'ledger_accounts'],
      ['ledger_accounts_kept', 'ledger_accounts'],
      ['ledger_entries_accounted', 'ledger_entries'],
    ]) {
      await queryRunner.query(`DROP TRIGGER ${trigger} ON ${table}`);
    }
    await queryRunner.query('DROP FUNCTION keep_ledger_account()');
  }
}
