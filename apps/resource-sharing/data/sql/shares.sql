-- Prices of shares, and shares of disabled accounts. Of ShareWriter (src/shares) and of everything that changes
-- site_accounts.disabled_at (site-accounts.sql).
--
-- Promises: a price that was raised holds for nobody before ten minutes have passed; nobody finds or unlocks a share
-- of a disabled account, and who had unlocked it keeps it.

-- Of unlock_points, held_points and held_until; 0 is free.
CREATE OR REPLACE FUNCTION share_price(p_points integer, p_held integer, p_until timestamptz) RETURNS integer LANGUAGE sql STABLE
AS $$ SELECT least(coalesce(p_points, 0), CASE WHEN p_until > now() THEN p_held END) $$;

-- The key of a link without what test mode puts before it.
CREATE OR REPLACE FUNCTION plain_link_key(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT p_key $$;

CREATE OR REPLACE FUNCTION hold_share_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.held_points := share_price(OLD.unlock_points, OLD.held_points, OLD.held_until);
  NEW.held_until := now() + interval '10 minutes';
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER shares_hold_price BEFORE UPDATE OF unlock_points ON shares FOR EACH ROW
  WHEN (coalesce(NEW.unlock_points, 0) > coalesce(OLD.unlock_points, 0)) EXECUTE FUNCTION hold_share_price();

-- As if taken back, without the fee; the link may be shared by others meanwhile. Another account's share of the same
-- link may not be committed yet, and then only the unique index finds it: the former share stays shut, and the
-- account is enabled all the same.
CREATE OR REPLACE FUNCTION shut_shares_with_owner() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  share bigint;
BEGIN
  IF NEW.disabled_at IS NOT NULL THEN
    EXECUTE format('UPDATE %I.shares SET deleted_at = now(), shut_with_owner = true
      WHERE owner_id = $1 AND deleted_at IS NULL', TG_TABLE_SCHEMA) USING NEW.id;
  ELSE
    FOR share IN EXECUTE format('SELECT max(id) FROM %I.shares
      WHERE owner_id = $1 AND shut_with_owner GROUP BY link_key ORDER BY 1', TG_TABLE_SCHEMA) USING NEW.id LOOP
      BEGIN
        EXECUTE format('UPDATE %I.shares SET deleted_at = NULL WHERE id = $1', TG_TABLE_SCHEMA) USING share;
      EXCEPTION WHEN unique_violation THEN
        NULL;
      END;
    END LOOP;
    EXECUTE format('UPDATE %I.shares SET shut_with_owner = false
      WHERE owner_id = $1 AND shut_with_owner', TG_TABLE_SCHEMA) USING NEW.id;
  END IF;
  RETURN NULL;
END $$;

-- Somebody who is disabled in the moment when they share: the account's row makes the two wait for each other.
CREATE OR REPLACE FUNCTION shut_new_share() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  disabled timestamptz;
BEGIN
  EXECUTE format('SELECT disabled_at FROM %I.site_accounts WHERE id = $1 FOR SHARE', TG_TABLE_SCHEMA)
    INTO disabled USING NEW.owner_id;
  IF disabled IS NOT NULL AND NEW.deleted_at IS NULL THEN
    NEW.deleted_at := now();
    NEW.shut_with_owner := true;
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER shares_shut_new BEFORE INSERT ON shares FOR EACH ROW EXECUTE FUNCTION shut_new_share();
