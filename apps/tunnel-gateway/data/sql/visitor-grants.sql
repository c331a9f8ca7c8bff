-- Who may use a raw tunnel for a while. Of the verification of visitors (src/visits) and of whatever changes a
-- policy, tunnel or client; heard by EdgeGrants (src/edge).
--
-- Promises: the edge hears of every grant that begins or ends, after the commit, in notes of at most 20, or to read
-- all of them (above 200). A grant ends when what it was given for is changed.

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.tell_grants() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  part text;
BEGIN
  IF (SELECT count(*) FROM (SELECT 1 FROM changed WHERE until > now() LIMIT 201) AS many) > 200 THEN
    PERFORM pg_notify('tunnel_gateway:grants', 'all');
    RETURN NULL;
  END IF;
  FOR part IN
    SELECT jsonb_agg(jsonb_build_object(
      'tunnelId', tunnel_id, 'policyId', policy_id, 'address', address, 'policyVersion', policy_version,
      'until', (extract(epoch FROM until) * 1000)::bigint, 'once', once, 'ended', TG_OP = 'DELETE'))::text
    FROM (SELECT *, row_number() OVER () AS place FROM changed WHERE until > now()) AS numbered
    GROUP BY (place - 1) / 20
  LOOP
    PERFORM pg_notify('tunnel_gateway:grants', part);
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER tell_insert
  AFTER INSERT
  ON tunnel_gateway_ops.visitor_grants
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.tell_grants();

CREATE OR REPLACE TRIGGER tell_update
  AFTER UPDATE
  ON tunnel_gateway_ops.visitor_grants
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.tell_grants();

CREATE OR REPLACE TRIGGER tell_delete
  AFTER DELETE
  ON tunnel_gateway_ops.visitor_grants
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.tell_grants();

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.end_grants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'policy' THEN
    DELETE FROM tunnel_gateway_ops.visitor_grants WHERE policy_id = NEW.id;
  ELSIF TG_ARGV[0] = 'tunnel' THEN
    DELETE FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id = NEW.id;
  ELSE
    DELETE FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id IN (
      SELECT id FROM tunnel_gateway.tunnels WHERE client_id = NEW.id);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER end_grants
  AFTER UPDATE OF enabled, updated_at
  ON tunnel_gateway.auth_policies
  FOR EACH ROW WHEN (OLD.enabled IS DISTINCT FROM NEW.enabled
    OR OLD.updated_at IS DISTINCT FROM NEW.updated_at)
  EXECUTE FUNCTION tunnel_gateway_ops.end_grants('policy');

CREATE OR REPLACE TRIGGER end_grants
  AFTER UPDATE OF client_id, mode, listen_ip, listen_port, target_addr, status
  ON tunnel_gateway.tunnels
  FOR EACH ROW WHEN (OLD.client_id IS DISTINCT FROM NEW.client_id
    OR OLD.mode IS DISTINCT FROM NEW.mode
    OR OLD.listen_ip IS DISTINCT FROM NEW.listen_ip
    OR OLD.listen_port IS DISTINCT FROM NEW.listen_port
    OR OLD.target_addr IS DISTINCT FROM NEW.target_addr
    OR OLD.status IS DISTINCT FROM NEW.status)
  EXECUTE FUNCTION tunnel_gateway_ops.end_grants('tunnel');

CREATE OR REPLACE TRIGGER end_grants
  AFTER UPDATE OF status
  ON tunnel_gateway.clients
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
  EXECUTE FUNCTION tunnel_gateway_ops.end_grants('client');
