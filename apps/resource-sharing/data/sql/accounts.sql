-- Changes of accounts that every replica has to know at once. Heard by Revocations (src/credentials).
--
-- Promises: whoever changes what an account may do, each replica hears of it, numbered by the epoch, after the
-- commit.

CREATE OR REPLACE FUNCTION announce_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  next bigint;
BEGIN
  EXECUTE format('INSERT INTO %I.revocation_epoch AS present (epoch) VALUES (1)
    ON CONFLICT (only_row) DO UPDATE SET epoch = present.epoch + 1 RETURNING epoch', TG_TABLE_SCHEMA) INTO next;
  PERFORM pg_notify('resource-sharing:revocations', next || ' user:' || NEW.id);
  RETURN NULL;
END $$;

-- Deferred: the row that all revocations share is locked last, and only for the commit.
DROP TRIGGER IF EXISTS site_accounts_announce ON site_accounts;
CREATE CONSTRAINT TRIGGER site_accounts_announce
  AFTER UPDATE OF premium_until, permissions, disabled_at ON site_accounts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.premium_until IS DISTINCT FROM NEW.premium_until OR OLD.permissions IS DISTINCT FROM NEW.permissions
    OR OLD.disabled_at IS DISTINCT FROM NEW.disabled_at)
  EXECUTE FUNCTION announce_account_change();
