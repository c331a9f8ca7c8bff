-- Of UnlockRisk and RiskStates (src/risk) and of unlock_shares().
--
-- Promises: a tier falls by one for every clean time; evidence counts once.

-- The tier as it is now: one less for every clean time that has passed.
CREATE OR REPLACE FUNCTION current_tier(p_state risk_states, p_clean interval, p_at timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_state.tier = 0 THEN 0 ELSE greatest(0, p_state.tier
    - floor(extract(epoch FROM p_at - coalesce(p_state.troubled_at, p_state.changed_at))
      / extract(epoch FROM p_clean))::integer) END $$;

-- The row of the user, locked.
CREATE OR REPLACE FUNCTION lock_risk(p_user bigint) RETURNS risk_states LANGUAGE plpgsql AS $$
DECLARE
  state risk_states;
BEGIN
  LOOP
    SELECT * INTO state FROM risk_states WHERE user_id = p_user FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO risk_states (user_id) VALUES (p_user) ON CONFLICT DO NOTHING;
  END LOOP;
  RETURN state;
END $$;

-- What an incident makes of a state: 1 watches and pauses shortly, again or a grave one (2) pauses longer, a repeat
-- of that blocks. The evidence is used up. Answers the new state; writes the events, not the state.
CREATE OR REPLACE FUNCTION risk_incident(p_state risk_states, p_kind text, p_gravity integer, p_application bigint, p_at timestamptz)
RETURNS risk_states LANGUAGE plpgsql AS $$
DECLARE
  s risk_settings;
  former integer;
  gravity integer := p_gravity;
BEGIN
  SELECT * INTO s FROM risk_settings;
  former := current_tier(p_state, s.clean_time, p_at);
  IF gravity = 1 AND p_state.incident_at > p_at - s.again_window THEN
    gravity := 2;
  END IF;
  IF gravity = 2 AND p_state.paused_at > p_at - s.repeat_window THEN
    gravity := 3;
  END IF;
  p_state.tier := greatest(former, gravity);
  p_state.paused_until := greatest(p_state.paused_until,
    p_at + CASE gravity WHEN 1 THEN s.pause_1 WHEN 2 THEN s.pause_2 ELSE s.pause_3 END);
  p_state.changed_at := p_at;
  p_state.troubled_at := p_at;
  p_state.incident_at := p_at;
  IF gravity > 1 THEN
    p_state.paused_at := p_at;
  END IF;
  IF gravity > 2 THEN
    p_state.needs_review := true;
  END IF;
  p_state.hits_at := '{}';
  p_state.paid_at := '{}';
  p_state.applications := '{}';
  p_state.applications_at := '{}';
  p_state.seen := '{}';
  INSERT INTO risk_events (user_id, kind, tier, application_id, details) VALUES (p_state.user_id, p_kind, p_state.tier,
    p_application, jsonb_build_object('before', former, 'until', p_state.paused_until));
  INSERT INTO audit_events (type, user_id, application_id, details) VALUES ('risk.tier_changed', p_state.user_id,
    p_application, jsonb_build_object('before', former, 'tier', p_state.tier, 'reason', p_kind, 'until', p_state.paused_until));
  RETURN p_state;
END $$;

-- A refused unlock, after its transaction was undone. Answers the tier, and whether it is another one than before.
CREATE OR REPLACE FUNCTION note_limit_hit(p_user bigint, p_application bigint, OUT tier integer, OUT changed boolean)
LANGUAGE plpgsql AS $$
DECLARE
  s risk_settings;
  state risk_states;
  t timestamptz;
  former integer;
BEGIN
  SELECT * INTO s FROM risk_settings;
  state := lock_risk(p_user);
  t := clock_timestamp();
  former := current_tier(state, s.clean_time, t);
  changed := false;
  -- Those who were refused together with the one that brought the pause are not a second offence.
  IF state.paused_until > t THEN
    tier := former;
    RETURN;
  END IF;
  state.tier := former;
  state.troubled_at := t;
  state.hits_at := ARRAY(SELECT at FROM unnest(state.hits_at) at WHERE at > t - s.hits_window) || t;
  INSERT INTO risk_events (user_id, kind, tier, application_id) VALUES (p_user, 'limit_hit', former, p_application);
  IF cardinality(state.hits_at) >= s.hits THEN
    state := risk_incident(state, 'limit_hits', 1, p_application, t);
    changed := true;
  END IF;
  tier := state.tier;
  UPDATE risk_states r SET tier = state.tier, changed_at = state.changed_at, troubled_at = state.troubled_at,
    incident_at = state.incident_at, paused_at = state.paused_at, paused_until = state.paused_until,
    needs_review = state.needs_review, hits_at = state.hits_at, paid_at = state.paid_at,
    applications = state.applications, applications_at = state.applications_at, seen = state.seen
    WHERE r.user_id = p_user;
END $$;
