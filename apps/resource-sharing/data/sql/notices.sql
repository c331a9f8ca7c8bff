-- Which events become notices of their users. Of Notices (src/notices); notice-text.ts there has a text for each type.
--
-- Promises: a notice is made in the transaction of its event, or not at all.

-- Not what users did themselves without giving anybody access, and not what another notice says already: a password
-- change ends keys and authorizations, too.
CREATE OR REPLACE FUNCTION is_notice(p_type text, p_actor bigint, p_details jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN p_type IN ('grant.revoked', 'key.revoked') THEN coalesce(p_details ->> 'reason', '') NOT IN
      ('password_changed', 'logged_out_everywhere', 'user_disabled', 'code_replayed', 'refresh_reused')
    WHEN p_type = 'share.deleted' THEN p_actor IS NOT NULL
    WHEN p_type = 'user.profile_changed' THEN coalesce(p_details -> 'fields' ? 'email', false)
    ELSE p_type IN ('app.disabled', 'app.proposal_accepted', 'app.proposal_refused', 'app.reviewed',
      'app.secret.created', 'app.secret.revoked', 'code.replayed', 'grant.created', 'key.created',
      'key.used_from_new_ip', 'points.granted', 'refresh.reused', 'risk.reset', 'risk.tier_changed',
      'share.official_changed', 'share.unlock_digest', 'user.enabled', 'user.logged_out_everywhere', 'user.new_sign_in_address',
      'user.password_changed', 'user.permissions_changed', 'user.premium_changed', 'user.recovery_code_used', 'user.recovery_codes_replaced',
      'user.role_changed', 'user.second_factor_disabled', 'user.second_factor_enabled', 'user.second_factor_reset')
  END $$;

CREATE OR REPLACE FUNCTION note_notice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_notice(NEW.type, NEW.actor_id, NEW.details) THEN
    INSERT INTO notices (event_id, user_id) VALUES (NEW.id, NEW.user_id);
  END IF;
  RETURN NULL;
END $$;

-- A condition is planned for each statement, which costs 28 µs with is_notice(). The event of unlocks, the most frequent
-- one by far, is no notice.
CREATE OR REPLACE TRIGGER audit_events_notice AFTER INSERT ON audit_events FOR EACH ROW
  WHEN (NEW.user_id IS NOT NULL AND NEW.type <> 'unlock.charged')
  EXECUTE FUNCTION note_notice();
