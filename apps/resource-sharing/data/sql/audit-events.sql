-- The trail of events. Of recordEvent and EventChain (src/audit).
--
-- Promises: events are never changed, and leave after 400 days, once the audit log has them; each is noted for the
-- audit log in the transaction that makes it.

CREATE OR REPLACE FUNCTION refuse_change_of_audit_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
    IF OLD.created_at < now() - interval '400 days'
      AND NOT EXISTS (SELECT FROM unchained_events WHERE event_id = OLD.id) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit events are never changed or removed' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit_event();

CREATE OR REPLACE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_event();

CREATE OR REPLACE FUNCTION note_unchained_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO unchained_events (event_id) VALUES (NEW.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER audit_events_unchained AFTER INSERT ON audit_events
  FOR EACH ROW EXECUTE FUNCTION note_unchained_event();
