-- What the edge serves. Of every service that writes users, clients, tunnels, hosts, address rules, lists of
-- addresses, policies or certificates; heard by ConfigFeed (src/edge), which reads what has changed.
--
-- Promises: whoever writes, a transaction that changes what the edge serves gets one revision, at its commit, and
-- says which rows it changed, or that it changed many (`all`, above 500). Revisions grow in the order of the commits.
-- Columns that the edge does not read count for nothing.

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.count_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  current text := txid_current()::text;
  changed jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
  latest bigint;
  noted integer;
BEGIN
  IF current_setting('tunnel_gateway.counted', true) IS DISTINCT FROM current THEN
    PERFORM set_config('tunnel_gateway.counted', current, true);
    UPDATE tunnel_gateway_ops.config_revision SET revision = revision + 1 RETURNING revision INTO latest;
    PERFORM set_config('tunnel_gateway.revision', latest::text, true);
    PERFORM set_config('tunnel_gateway.noted', '0', true);
    DELETE FROM tunnel_gateway_ops.config_changes WHERE revision <= latest - 1000;
    PERFORM pg_notify('tunnel_gateway:config', latest::text);
  END IF;
  noted := current_setting('tunnel_gateway.noted')::integer + 1;
  IF noted > 501 THEN
    RETURN NULL;
  END IF;
  PERFORM set_config('tunnel_gateway.noted', noted::text, true);
  latest := current_setting('tunnel_gateway.revision')::bigint;
  INSERT INTO tunnel_gateway_ops.config_changes (revision, kind, row_id)
  SELECT latest, note.kind, coalesce(note.row_id, 0)
  FROM (SELECT
    CASE WHEN noted > 500 THEN 'all' ELSE CASE TG_TABLE_NAME
      WHEN 'users' THEN 'users' WHEN 'clients' THEN 'clients' WHEN 'client_options' THEN 'clients'
      WHEN 'tunnels' THEN 'tunnels' WHEN 'tunnel_options' THEN 'tunnels'
      WHEN 'hosts' THEN 'hosts' WHEN 'host_options' THEN 'hosts' WHEN 'certificates' THEN 'hosts'
      WHEN 'ip_rules' THEN 'ip_rules' WHEN 'ip_rule_options' THEN 'ip_rules'
      WHEN 'address_lists' THEN 'address_lists'
      WHEN 'auth_policies' THEN 'auth_policies' WHEN 'policy_options' THEN 'auth_policies'
      ELSE 'all' END END AS kind,
    (CASE TG_TABLE_NAME
      WHEN 'client_options' THEN changed ->> 'client_id' WHEN 'tunnel_options' THEN changed ->> 'tunnel_id'
      WHEN 'host_options' THEN changed ->> 'host_id' WHEN 'certificates' THEN changed ->> 'host_id'
      WHEN 'policy_options' THEN changed ->> 'policy_id' WHEN 'ip_rule_options' THEN changed ->> 'rule_id'
      ELSE changed ->> 'id' END)::bigint AS row_id) AS note
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS users_revision ON tunnel_gateway.users;
CREATE CONSTRAINT TRIGGER users_revision
  AFTER INSERT OR DELETE OR UPDATE OF status
  ON tunnel_gateway.users
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS clients_revision ON tunnel_gateway.clients;
CREATE CONSTRAINT TRIGGER clients_revision
  AFTER INSERT OR DELETE OR UPDATE OF verify_key, owner_user_id, rate_limit, max_conn, expire_at, status
  ON tunnel_gateway.clients
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS client_options_revision ON tunnel_gateway_ops.client_options;
CREATE CONSTRAINT TRIGGER client_options_revision
  AFTER INSERT OR DELETE OR UPDATE OF encrypt, previous_verify_key, previous_key_until
  ON tunnel_gateway_ops.client_options
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS tunnels_revision ON tunnel_gateway.tunnels;
CREATE CONSTRAINT TRIGGER tunnels_revision
  AFTER INSERT OR DELETE OR UPDATE OF client_id, mode, listen_ip, listen_port, target_addr, status
  ON tunnel_gateway.tunnels
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS tunnel_options_revision ON tunnel_gateway_ops.tunnel_options;
CREATE CONSTRAINT TRIGGER tunnel_options_revision
  AFTER INSERT OR DELETE OR UPDATE OF proxy_protocol, accept_proxy_protocol, rate_limit, port_count
  ON tunnel_gateway_ops.tunnel_options
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS hosts_revision ON tunnel_gateway.hosts;
CREATE CONSTRAINT TRIGGER hosts_revision
  AFTER INSERT OR DELETE OR UPDATE OF client_id, host, location, scheme, target_addr, cert_path, key_path, auto_https, status
  ON tunnel_gateway.hosts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS host_options_revision ON tunnel_gateway_ops.host_options;
CREATE CONSTRAINT TRIGGER host_options_revision
  AFTER INSERT OR DELETE OR UPDATE OF rewrite_host, rewrite_path, sticky, max_body_bytes, error_page, request_headers, response_headers, strict_path, record_requests, health_check, redirect, compress
  ON tunnel_gateway_ops.host_options
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS certificates_revision ON tunnel_gateway_ops.certificates;
CREATE CONSTRAINT TRIGGER certificates_revision
  AFTER INSERT OR DELETE OR UPDATE OF chain, sealed_key
  ON tunnel_gateway_ops.certificates
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS ip_rules_revision ON tunnel_gateway.ip_rules;
CREATE CONSTRAINT TRIGGER ip_rules_revision
  AFTER INSERT OR DELETE OR UPDATE OF scope, resource_id, type, pattern, pattern_kind, priority
  ON tunnel_gateway.ip_rules
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS ip_rule_options_revision ON tunnel_gateway_ops.ip_rule_options;
CREATE CONSTRAINT TRIGGER ip_rule_options_revision
  AFTER INSERT OR DELETE OR UPDATE OF paths, methods
  ON tunnel_gateway_ops.ip_rule_options
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS address_lists_revision ON tunnel_gateway_ops.address_lists;
CREATE CONSTRAINT TRIGGER address_lists_revision
  AFTER INSERT OR DELETE OR UPDATE OF name, content
  ON tunnel_gateway_ops.address_lists
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS auth_policies_revision ON tunnel_gateway.auth_policies;
CREATE CONSTRAINT TRIGGER auth_policies_revision
  AFTER INSERT OR DELETE OR UPDATE OF resource_type, resource_id, type, password, callback_url, enabled, ttl_seconds, updated_at
  ON tunnel_gateway.auth_policies
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();

DROP TRIGGER IF EXISTS policy_options_revision ON tunnel_gateway_ops.policy_options;
CREATE CONSTRAINT TRIGGER policy_options_revision
  AFTER INSERT OR DELETE OR UPDATE OF copy_headers, allow_private, oauth, sealed_secret
  ON tunnel_gateway_ops.policy_options
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision();
