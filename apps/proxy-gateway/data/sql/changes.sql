-- Of everything that writes what the console lists.
--
-- Promises: after a commit that changed a list, consoles that follow GET /changes (libs/changes) get the list's name,
-- once for a transaction. Writes that no list shows, such as hits of a rule, are not announced.

CREATE OR REPLACE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('proxy_gateway:changes', TG_ARGV[0]);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER nodes_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON nodes
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('nodes');

CREATE OR REPLACE TRIGGER node_sources_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON node_sources
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('nodes');

CREATE OR REPLACE TRIGGER node_health_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON node_health
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('node-health');

CREATE OR REPLACE TRIGGER outbound_groups_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON outbound_groups
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('groups');

CREATE OR REPLACE TRIGGER outbound_policy_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON outbound_policy
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('groups');

CREATE OR REPLACE TRIGGER group_switches_announce
  AFTER INSERT
  ON group_switches
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('groups');

CREATE OR REPLACE TRIGGER rules_announce
  AFTER INSERT OR DELETE OR UPDATE OF source, subscription_id, rule_set_id, type, payload, target, no_resolve, src, enabled, priority
  ON rules
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('rules');

CREATE OR REPLACE TRIGGER rule_sets_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON rule_sets
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('rules');

CREATE OR REPLACE TRIGGER subscriptions_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON subscriptions
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('subscriptions');

CREATE OR REPLACE TRIGGER settings_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON settings
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('settings');

CREATE OR REPLACE TRIGGER geo_databases_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON geo_databases
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('geo');

CREATE OR REPLACE TRIGGER geo_updates_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON geo_updates
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('geo');

CREATE OR REPLACE TRIGGER api_keys_announce
  AFTER INSERT OR DELETE OR UPDATE OF revoked_at
  ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('api-keys');

CREATE OR REPLACE TRIGGER publications_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON publications
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('publications');

CREATE OR REPLACE TRIGGER publication_templates_announce
  AFTER INSERT OR DELETE OR UPDATE
  ON publication_templates
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('publications');

CREATE OR REPLACE TRIGGER proxy_users_announce
  AFTER INSERT OR DELETE OR UPDATE OF name, password, enabled, note, expires_at, allowed_addresses, max_connections, rate_limit, traffic_quota, quota_period
  ON proxy_users
  FOR EACH STATEMENT EXECUTE FUNCTION announce_change('proxy-users');
