-- Of the orders of certificates (src/acme); heard by the edge, which answers challenges.
--
-- Promises: the edge hears of every challenge that begins, changes or ends, after the commit.

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.tell_challenges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tunnel_gateway:acme', '');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER acme_challenges_tell
  AFTER INSERT OR DELETE OR UPDATE OF key_authorization
  ON tunnel_gateway_ops.acme_challenges
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.tell_challenges();
