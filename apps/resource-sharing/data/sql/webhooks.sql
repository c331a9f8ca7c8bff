-- What applications can be sent. Of ApplicationEvents (src/webhooks); unlocks.sql adds the unlocks.
--
-- Promises: an event is noted in the transaction that it reports, or not at all, and only if a webhook wants it.

CREATE OR REPLACE FUNCTION is_wanted(p_application bigint, p_type text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM webhooks w WHERE w.application_id = p_application AND w.status = 1
    AND (w.event_types = '{}' OR p_type = ANY (w.event_types)));
END $$;

-- Why a grant ended, as far as it is the application's business: not what its user did to the account.
CREATE OR REPLACE FUNCTION reason_for_application(p_reason text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE p_reason
    WHEN 'user' THEN 'user'
    WHEN 'client' THEN 'application'
    WHEN 'administrator' THEN 'administrator'
    WHEN 'application_disabled' THEN 'application_disabled'
    WHEN 'code_replayed' THEN 'token_reused'
    WHEN 'refresh_reused' THEN 'token_reused'
    ELSE 'account' END;
END $$;

CREATE OR REPLACE FUNCTION note_application_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  event_type text := CASE
    WHEN NEW.type = 'grant.created' AND jsonb_typeof(NEW.details -> 'former') = 'array' THEN 'grant.changed'
    WHEN NEW.type = 'grant.created' THEN 'grant.created'
    WHEN NEW.type = 'grant.revoked' THEN 'grant.ended'
    ELSE 'application.reviewed' END;
  facts jsonb;
BEGIN
  IF NOT is_wanted(NEW.application_id, event_type) THEN
    RETURN NULL;
  END IF;
  IF event_type = 'application.reviewed' THEN
    SELECT jsonb_build_object('status', a.status, 'auth_level', a.auth_level, 'scopes', to_jsonb(a.allowed_scopes),
        'proposal', NEW.details ->> 'proposal')
      INTO facts FROM applications a WHERE a.id = NEW.application_id;
  ELSE
    facts := jsonb_build_object('user_id', NEW.user_id, 'grant_id', NEW.grant_id) || CASE event_type
      WHEN 'grant.ended' THEN jsonb_build_object('reason', reason_for_application(NEW.details ->> 'reason'))
      ELSE jsonb_build_object('scopes', NEW.details -> 'scopes', 'former_scopes', coalesce(NEW.details -> 'former', 'null'))
      END;
  END IF;
  INSERT INTO application_events (application_id, type, data) VALUES (NEW.application_id, event_type, facts);
  PERFORM pg_notify('resource_sharing:application_events', '');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER audit_events_application AFTER INSERT ON audit_events FOR EACH ROW
  WHEN (NEW.application_id IS NOT NULL
    AND NEW.type IN ('grant.created', 'grant.revoked', 'app.reviewed', 'app.disabled'))
  EXECUTE FUNCTION note_application_event();
