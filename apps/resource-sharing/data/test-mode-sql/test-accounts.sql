-- Test mode: the accounts for which test calls act, and what such a call sees. Of TestAccounts and TestData
-- (src/test-mode). Applied after those files of data/sql that test mode shares. Connections of test calls look for names
-- in resource_sharing_test_view, resource_sharing_test and resource_sharing, in this order.
--
-- Promises: the number of a test account is that of no account of the site, so that nothing that is done for one finds
-- the other; a test call sees the shares of its application alone, and none without an application.

-- The application of the calls of this connection; null if there is none.
CREATE OR REPLACE FUNCTION test_application() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('resource_sharing.test_application', true), '')::bigint $$;

-- Test accounts in the place of accounts. Their users are real ones. There is no password: nobody signs in here.
DROP VIEW IF EXISTS resource_sharing_test.site_accounts;
CREATE VIEW resource_sharing_test.site_accounts AS
  SELECT t.id, a.username, CASE WHEN t.is_made_up THEN 'Test sharer' ELSE a.nickname END AS nickname, a.email,
    CASE WHEN t.is_made_up THEN NULL ELSE a.avatar_url END AS avatar_url, a.role, a.disabled_at, t.created_at, a.updated_at,
    a.premium_until, a.permissions, a.last_active_at, a.language, a.theme, a.email_verified_at
  FROM resource_sharing_test.test_accounts t JOIN resource_sharing.site_accounts a ON a.id = t.user_id;

-- In front of the table, whose triggers and references need its name. Superusers pass row-level security.
DROP VIEW IF EXISTS resource_sharing_test_view.shares;
CREATE VIEW resource_sharing_test_view.shares AS
  SELECT id, slug, owner_id, movie_id, tv_id, collection_id, title, kind, link_key, url, access_code, share_size,
    video_resolution, source, subtitle_language, subtitle_type, remark, unlock_points, held_points, held_until,
    is_anonymous, hide_link, is_official, validate_status, validate_message, last_validated_at, notified_at, deleted_at,
    created_at, updated_at, shut_with_owner
  FROM resource_sharing_test.shares WHERE application_id = resource_sharing_test.test_application();

-- Two applications may try the same link.
CREATE OR REPLACE FUNCTION mark_link_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.application_id IS NOT NULL AND NEW.link_key NOT LIKE 'test:%' THEN
    NEW.link_key := 'test:' || NEW.application_id || ' ' || NEW.link_key;
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER shares_mark_link_key BEFORE INSERT OR UPDATE OF link_key ON shares
  FOR EACH ROW EXECUTE FUNCTION mark_link_key();

CREATE OR REPLACE FUNCTION plain_link_key(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT regexp_replace(p_key, '^test:[0-9]+ ', '') $$;

-- Webhooks get what test calls do only if they ask for it, and marked.
CREATE OR REPLACE FUNCTION is_wanted(p_application bigint, p_type text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM webhooks w WHERE w.application_id = p_application AND w.status = 1 AND w.test_events
    AND (w.event_types = '{}' OR p_type = ANY (w.event_types)));
END $$;

DROP VIEW IF EXISTS resource_sharing_test.application_events;
CREATE VIEW resource_sharing_test.application_events AS
  SELECT id, application_id, type, data, created_at, is_test FROM resource_sharing.application_events;
ALTER VIEW resource_sharing_test.application_events ALTER COLUMN is_test SET DEFAULT true;

-- The ledger of the layer is never changed either, until all of an application goes.
CREATE OR REPLACE FUNCTION refuse_change_of_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND resource_sharing_test.is_emptying() THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the ledger is never changed or removed' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE FUNCTION is_emptying() RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT current_setting('resource_sharing.emptying', true) IS NOT DISTINCT FROM 'on' $$;

CREATE OR REPLACE FUNCTION keep_ledger_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.version > 0 AND NOT resource_sharing_test.is_emptying() THEN
      RAISE EXCEPTION 'account % has entries and is never removed', OLD.user_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
  ELSIF NEW.user_id <> OLD.user_id OR NEW.version <= OLD.version THEN
    RAISE EXCEPTION 'the version of account % only grows', OLD.user_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- Titles are those of all applications, and messages are not.
CREATE OR REPLACE FUNCTION is_subscriber(p_subscriber bigint, p_sharer bigint) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT p_subscriber <> p_sharer AND EXISTS (SELECT FROM test_accounts a
    WHERE a.id = p_subscriber AND a.application_id = resource_sharing_test.test_application()) $$;

-- Test shares of an account that is disabled or enabled again: as shut_shares_with_owner() does with the real ones. Made-up
-- shares stay, for they are nobody's.
CREATE OR REPLACE FUNCTION shut_test_shares() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  owned bigint[];
  share bigint;
BEGIN
  SELECT coalesce(array_agg(id), '{}') INTO owned FROM resource_sharing_test.test_accounts
    WHERE user_id = NEW.id AND NOT is_made_up;
  IF NEW.disabled_at IS NOT NULL THEN
    UPDATE resource_sharing_test.shares SET deleted_at = now(), shut_with_owner = true
      WHERE owner_id = ANY (owned) AND deleted_at IS NULL;
  ELSE
    FOR share IN SELECT max(id) FROM resource_sharing_test.shares
      WHERE owner_id = ANY (owned) AND shut_with_owner GROUP BY link_key ORDER BY 1 LOOP
      BEGIN
        UPDATE resource_sharing_test.shares SET deleted_at = NULL WHERE id = share;
      EXCEPTION WHEN unique_violation THEN
        NULL;
      END;
    END LOOP;
    UPDATE resource_sharing_test.shares SET shut_with_owner = false WHERE owner_id = ANY (owned) AND shut_with_owner;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER site_accounts_shut_test_shares AFTER UPDATE OF disabled_at ON resource_sharing.site_accounts
  FOR EACH ROW WHEN ((OLD.disabled_at IS NULL) <> (NEW.disabled_at IS NULL))
  EXECUTE FUNCTION resource_sharing_test.shut_test_shares();
