-- Test mode: what a test account begins with, and its end. Of TestAccounts and TestData (src/test-mode), and of
-- unlock_shares(). Called by connections of test calls, because the checks of the ledger run at the commit, with the
-- search path of the connection; empty_test_data() makes no such check, and others call it, too.
--
-- Promises: a user has one test account for each application; emptying leaves no row of the application in the layer.

-- The test account of a user for an application, with so many points if it is new.
CREATE OR REPLACE FUNCTION open_test_account(p_application bigint, p_user bigint, p_points integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  account bigint;
BEGIN
  INSERT INTO test_accounts (application_id, user_id) VALUES (p_application, p_user)
    ON CONFLICT DO NOTHING RETURNING id INTO account;
  IF account IS NULL THEN
    SELECT id INTO account FROM test_accounts WHERE application_id = p_application AND user_id = p_user AND NOT is_made_up;
    RETURN account;
  END IF;
  INSERT INTO ledger_accounts (user_id) VALUES (account);
  PERFORM ledger_transfer('grant', 'opened ' || account, NULL, account, 'grants', p_points);
  PERFORM make_test_shares(p_application);
  RETURN account;
END $$;

-- One share of each price and outcome, of a sharer who is made up.
DROP FUNCTION IF EXISTS resource_sharing_test.make_test_shares(bigint, bigint);
CREATE OR REPLACE FUNCTION make_test_shares(p_application bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  sharer bigint;
  title bigint;
BEGIN
  IF EXISTS (SELECT FROM test_accounts WHERE application_id = p_application AND is_made_up) THEN
    RETURN;
  END IF;
  -- Of the application's owner, who is there as long as the application.
  INSERT INTO test_accounts (application_id, user_id, is_made_up)
    SELECT id, owner_id, true FROM applications WHERE id = p_application ON CONFLICT DO NOTHING RETURNING id INTO sharer;
  IF sharer IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO ledger_accounts (user_id) VALUES (sharer);
  INSERT INTO titles (media_type, tmdb_id, title) VALUES ('movie', '999000001', 'Test mode')
    ON CONFLICT (media_type, tmdb_id) DO UPDATE SET title = excluded.title RETURNING id INTO title;
  INSERT INTO resource_sharing_test.shares (application_id, slug, owner_id, movie_id, kind, link_key, url, access_code, title,
      unlock_points, is_official, deleted_at, made_up)
    SELECT p_application, md5('test share ' || p_application || ' ' || name)::uuid, sharer, title, '115',
      '115:gatehousetest' || name, 'https://115.com/s/gatehousetest' || name, 'test', 'Test mode: ' || name, price,
      name = 'official', CASE name WHEN 'withdrawn' THEN now() END, name
    FROM (VALUES ('free', NULL), ('cheap', 10), ('dear', 1000000), ('official', 10), ('withdrawn', 10),
      ('too_fast', 10), ('paused', 10), ('blocked', 10)) AS made (name, price);
END $$;

-- Makes the balance so many points, by a grant or its opposite.
CREATE OR REPLACE FUNCTION set_test_points(p_account bigint, p_points bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  present bigint;
BEGIN
  PERFORM lock_ledger_accounts(p_account, NULL);
  SELECT balance INTO present FROM ledger_accounts WHERE user_id = p_account;
  IF present < p_points THEN
    PERFORM ledger_transfer('grant', 'set ' || new_ledger_id(), NULL, p_account, 'grants', p_points - present);
  ELSIF present > p_points THEN
    PERFORM ledger_transfer('grant', 'set ' || new_ledger_id(), p_account, NULL, 'grants', present - p_points);
  END IF;
END $$;

-- Removes everything of an application. Titles stay: they are numbers of TMDB, and belong to nobody.
CREATE OR REPLACE FUNCTION empty_test_data(p_application bigint) RETURNS void
LANGUAGE plpgsql SET search_path = resource_sharing_test, resource_sharing AS $$
DECLARE
  gone bigint[];
  moved uuid[];
BEGIN
  -- In the order in which unlocks lock: those that are under way come first, and later ones find no account.
  SELECT array_agg(id) INTO gone FROM test_accounts WHERE application_id = p_application;
  PERFORM 1 FROM risk_states WHERE user_id = ANY (gone) ORDER BY user_id FOR UPDATE;
  PERFORM 1 FROM ledger_accounts WHERE user_id = ANY (gone) ORDER BY user_id FOR UPDATE;
  -- With accounts that were opened meanwhile.
  SELECT array_agg(id) INTO gone FROM (SELECT id FROM test_accounts WHERE application_id = p_application FOR UPDATE) a;
  PERFORM set_config('resource_sharing.emptying', 'on', true);
  SELECT array_agg(DISTINCT transaction_id) INTO moved FROM ledger_entries WHERE user_id = ANY (gone);
  DELETE FROM unlocks WHERE user_id = ANY (gone);
  DELETE FROM share_looks WHERE user_id = ANY (gone);
  DELETE FROM messages WHERE user_id = ANY (gone);
  DELETE FROM title_subscriptions WHERE user_id = ANY (gone);
  DELETE FROM share_counters c USING shares s WHERE s.application_id = p_application AND c.share_id = s.id;
  DELETE FROM shares WHERE application_id = p_application;
  DELETE FROM ledger_entries WHERE transaction_id = ANY (moved);
  DELETE FROM ledger_transactions WHERE id = ANY (moved);
  DELETE FROM ledger_accounts WHERE user_id = ANY (gone);
  DELETE FROM weekly_free WHERE user_id = ANY (gone);
  DELETE FROM check_ins WHERE user_id = ANY (gone);
  DELETE FROM risk_states WHERE user_id = ANY (gone);
  DELETE FROM risk_events WHERE user_id = ANY (gone);
  DELETE FROM audit_events WHERE user_id = ANY (gone);
  DELETE FROM idempotency_keys WHERE user_id = ANY (gone);
  DELETE FROM test_accounts WHERE id = ANY (gone);
  PERFORM set_config('resource_sharing.emptying', 'off', true);
END $$;

-- A made-up share has the outcome of its name; any other one that of unlocks.sql.
DROP FUNCTION IF EXISTS resource_sharing_test.count_unlock_as_usual(risk_states, unlock_request, risk_settings, timestamptz);
ALTER FUNCTION resource_sharing_test.count_unlock(risk_states, unlock_request, risk_settings, timestamptz)
  RENAME TO count_unlock_as_usual;

CREATE FUNCTION resource_sharing_test.count_unlock(INOUT state risk_states, INOUT r unlock_request, s risk_settings, t timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  made_up text;
  counted record;
BEGIN
  SELECT h.made_up INTO made_up FROM resource_sharing_test.shares h WHERE h.id = r.share_id;
  IF made_up IN ('too_fast', 'paused', 'blocked') THEN
    r.outcome := made_up;
    r.tier := CASE made_up WHEN 'blocked' THEN 3 WHEN 'paused' THEN 1 ELSE 0 END;
    r.quota := s.unlocks_per_minute;
    r.remaining := 0;
    r.retry_s := 30;
    RETURN;
  END IF;
  counted := count_unlock_as_usual(state, r, s, t);
  state := counted.state;
  r := counted.r;
END $$;
