-- Of everything that writes what the console lists.
--
-- Promises: after a commit that changed a list, consoles that follow GET /changes (libs/changes) get the list's name,
-- once for a transaction. Writes that no list shows, such as the last use of a session, are not announced.

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tunnel_gateway:changes', TG_ARGV[0]);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER clients_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway.clients
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('clients');

CREATE OR REPLACE TRIGGER client_options_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.client_options
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('clients');

CREATE OR REPLACE TRIGGER tunnels_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway.tunnels
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('tunnels');

CREATE OR REPLACE TRIGGER tunnel_options_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.tunnel_options
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('tunnels');

CREATE OR REPLACE TRIGGER hosts_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway.hosts
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('hosts');

CREATE OR REPLACE TRIGGER host_options_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.host_options
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('hosts');

CREATE OR REPLACE TRIGGER certificates_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.certificates
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('certificates');

CREATE OR REPLACE TRIGGER acme_states_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.acme_states
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('certificates');

CREATE OR REPLACE TRIGGER ip_rules_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway.ip_rules
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('rules');

CREATE OR REPLACE TRIGGER ip_rule_options_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.ip_rule_options
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('rules');

CREATE OR REPLACE TRIGGER address_lists_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.address_lists
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('address-lists');

CREATE OR REPLACE TRIGGER auth_policies_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway.auth_policies
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('policies');

CREATE OR REPLACE TRIGGER policy_options_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.policy_options
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('policies');

CREATE OR REPLACE TRIGGER users_announce
  AFTER INSERT OR DELETE OR UPDATE OF username, role, status
  ON tunnel_gateway.users
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('users');

CREATE OR REPLACE TRIGGER sessions_announce
  AFTER INSERT OR DELETE
  ON tunnel_gateway.sessions
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('sessions');

CREATE OR REPLACE TRIGGER api_keys_announce
  AFTER INSERT OR DELETE OR UPDATE OF revoked_at
  ON tunnel_gateway_ops.api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('api-keys');

CREATE OR REPLACE TRIGGER webhooks_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.webhooks
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('webhooks');

CREATE OR REPLACE TRIGGER domains_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway_ops.domains
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('domains');

CREATE OR REPLACE TRIGGER flow_stats_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON tunnel_gateway.flow_stats
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_change('traffic');
