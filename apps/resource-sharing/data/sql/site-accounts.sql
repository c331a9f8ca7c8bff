-- What happens with accounts of the site: triggers with functions of ledger.sql and shares.sql. In a file of their own
-- because test mode has the other files, too, and no accounts.

CREATE OR REPLACE TRIGGER site_accounts_open_ledger_account AFTER INSERT ON site_accounts
  FOR EACH ROW EXECUTE FUNCTION open_ledger_account();

CREATE OR REPLACE TRIGGER site_accounts_shut_shares AFTER UPDATE OF disabled_at ON site_accounts FOR EACH ROW
  WHEN ((OLD.disabled_at IS NULL) <> (NEW.disabled_at IS NULL)) EXECUTE FUNCTION shut_shares_with_owner();
