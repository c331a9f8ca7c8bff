-- Of EventLog.record (src/events).
--
-- Promises: events are numbered in the order of their commits, so that nobody who reads after a number misses one
-- that was committed later.

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.number_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM tunnel_gateway_ops.config_revision WHERE id = 1 FOR UPDATE;
  UPDATE tunnel_gateway_ops.events SET id = nextval('tunnel_gateway_ops.event_numbers') WHERE entry = NEW.entry;
  PERFORM pg_notify('tunnel_gateway:events', '');
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS events_number ON tunnel_gateway_ops.events;
CREATE CONSTRAINT TRIGGER events_number
  AFTER INSERT
  ON tunnel_gateway_ops.events
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id IS NULL)
  EXECUTE FUNCTION tunnel_gateway_ops.number_event();
