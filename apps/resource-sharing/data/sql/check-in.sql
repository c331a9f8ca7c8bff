-- Of CheckIns.checkIn (src/check-in).
--
-- Promises: one check-in a user and day. A loss never exceeds the balance.

-- Drawn before, decided here: the balance is known for sure only under its lock.
CREATE OR REPLACE FUNCTION check_in(p_user bigint, p_gambler boolean, p_drawn integer, p_premium boolean, p_zone text,
  p_at timestamptz DEFAULT now(),
  OUT checked_in boolean, OUT points integer, OUT balance bigint, OUT streak integer, OUT doubled boolean)
LANGUAGE plpgsql AS $$
DECLARE
  today date := (p_at AT TIME ZONE p_zone)::date;
  ref text := p_user || ':' || today;
BEGIN
  PERFORM lock_ledger_accounts(p_user, NULL);
  SELECT a.balance INTO balance FROM ledger_accounts a WHERE a.user_id = p_user;
  points := 0;
  doubled := false;
  SELECT c.streak INTO streak FROM check_ins c WHERE c.user_id = p_user AND c.day = today;
  checked_in := NOT FOUND;
  IF NOT checked_in THEN
    RETURN;
  END IF;
  points := CASE WHEN balance = 0 THEN abs(p_drawn) ELSE greatest(p_drawn, -balance) END;
  doubled := p_premium AND points > 0;
  IF doubled THEN
    points := points * 2;
  END IF;
  streak := 1 + coalesce((SELECT c.streak FROM check_ins c WHERE c.user_id = p_user AND c.day = today - 1), 0);
  INSERT INTO check_ins (user_id, day, mode, drawn, points, streak)
    VALUES (p_user, today, CASE WHEN p_gambler THEN 'gambler' ELSE 'normal' END, p_drawn, check_in.points, check_in.streak);
  IF points > 0 THEN
    SELECT t.to_balance INTO balance FROM ledger_transfer('check_in', ref, NULL, p_user, 'check_ins', points) t;
  ELSIF points < 0 THEN
    SELECT t.from_balance INTO balance FROM ledger_transfer('check_in', ref, p_user, NULL, 'check_ins', -points) t;
  END IF;
END $$;
