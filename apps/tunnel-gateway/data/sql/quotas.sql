-- How much traffic a user, client or tunnel may have. Of the batches of counters (src/edge/apply-batch.ts), which add to
-- `used`, and of the REST API, which sets the rest; heard by QuotaTracker (src/edge), which cuts what is used up.
--
-- Promises: `used` counts each batch once, in the same transaction as the totals, for the period in which it was
-- counted. Edges hear when a quota is set, changed or removed, is used up or has room again, and not of anything else.

-- When the period that includes this time began, in UTC.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.quota_period_start(period text, at timestamptz)
RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE period WHEN 'total' THEN '-infinity'::timestamptz ELSE date_trunc(period, at, 'UTC') END
$$;

-- When the period that includes this time ends; null: never.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.quota_period_end(period text, at timestamptz)
RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE period WHEN 'total' THEN NULL
    ELSE (date_trunc(period, at AT TIME ZONE 'UTC') + ('1 ' || period)::interval) AT TIME ZONE 'UTC' END
$$;

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.announce_quota() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tunnel_gateway:quotas', '');
  PERFORM pg_notify('tunnel_gateway:changes', CASE TG_OP WHEN 'DELETE' THEN OLD.resource_type ELSE NEW.resource_type END || 's');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER traffic_quotas_set
  AFTER INSERT OR DELETE
  ON tunnel_gateway_ops.traffic_quotas
  FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.announce_quota();

CREATE OR REPLACE TRIGGER traffic_quotas_changed
  AFTER UPDATE
  ON tunnel_gateway_ops.traffic_quotas
  FOR EACH ROW
  WHEN (NEW.bytes <> OLD.bytes OR NEW.period <> OLD.period OR NEW.used < OLD.used
    OR (NEW.used >= NEW.bytes) <> (OLD.used >= OLD.bytes))
  EXECUTE FUNCTION tunnel_gateway_ops.announce_quota();
