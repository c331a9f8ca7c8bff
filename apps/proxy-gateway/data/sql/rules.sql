-- Of everything that writes rules (src/rules, src/rule-sets, src/subscriptions).
--
-- Promises: rule_revision grows with every statement that changes what rules do, and not with hits.

CREATE OR REPLACE FUNCTION next_rule_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rule_revision SET revision = revision + 1;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER rules_revision
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF source, subscription_id, rule_set_id, type, payload, target, no_resolve, src, enabled, priority
  ON rules
  FOR EACH STATEMENT EXECUTE FUNCTION next_rule_revision();
