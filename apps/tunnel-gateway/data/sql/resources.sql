-- What is about a user, client, tunnel or host without a foreign key to it. Of OwnedRows.remove (src/data).
--
-- Promises: address rules, policies, quotas and visitors' addresses of something go with it, whoever removes it.

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.forget_resource() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM tunnel_gateway.ip_rules WHERE scope = TG_ARGV[0] AND resource_id = OLD.id;
  DELETE FROM tunnel_gateway.auth_policies WHERE resource_type = TG_ARGV[0] AND resource_id = OLD.id;
  DELETE FROM tunnel_gateway_ops.traffic_quotas WHERE resource_type = TG_ARGV[0] AND resource_id = OLD.id;
  DELETE FROM tunnel_gateway.request_ips WHERE resource_type = TG_ARGV[0] AND resource_id = OLD.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER forget_resource
  AFTER DELETE
  ON tunnel_gateway.users
  FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.forget_resource('user');

CREATE OR REPLACE TRIGGER forget_resource
  AFTER DELETE
  ON tunnel_gateway.clients
  FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.forget_resource('client');

CREATE OR REPLACE TRIGGER forget_resource
  AFTER DELETE
  ON tunnel_gateway.tunnels
  FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.forget_resource('tunnel');

CREATE OR REPLACE TRIGGER forget_resource
  AFTER DELETE
  ON tunnel_gateway.hosts
  FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.forget_resource('host');
