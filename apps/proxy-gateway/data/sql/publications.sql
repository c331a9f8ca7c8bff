-- Of everything that writes what documents of publications are made from.
--
-- Promises: the set of ids in publication_marks of an area changes with every commit that changed rows of the area, and
-- never becomes what it was before. So a document that was built after its marks were read is good for as long as they
-- are the same. Marks are inserted, not counted up: two transactions never wait for each other. Older marks may go at
-- any time; a transaction keeps its newest.

CREATE OR REPLACE FUNCTION mark_publication_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  mark bigint;
BEGIN
  -- Programs that look after a database name its tables with their schema, and have no search path.
  EXECUTE format('INSERT INTO %I.publication_marks (area) VALUES ($1) RETURNING id', TG_TABLE_SCHEMA)
    INTO mark USING TG_ARGV[0];
  -- Now and then. Stricter levels would fail over rows that others delete at the same time.
  IF random() < 0.05 AND current_setting('transaction_isolation') = 'read committed' THEN
    EXECUTE format(
      'DELETE FROM %1$I.publication_marks WHERE id IN (
         SELECT id FROM %1$I.publication_marks WHERE area = $1 AND id < $2 ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED)',
      TG_TABLE_SCHEMA) USING TG_ARGV[0], mark;
  END IF;
  RETURN NULL;
END $$;

-- Columns that are not named are measurements and times of the service; a test compares the lists with the tables.
CREATE OR REPLACE TRIGGER nodes_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF source, original_name, custom_name, country, config, tags, enabled
  ON nodes
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER node_sources_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON node_sources
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER node_health_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON node_health
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('health');

CREATE OR REPLACE TRIGGER outbound_groups_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF name, type, position, members, filter, exclude, include_countries, test_url, expected_status,
    interval_sec, tolerance_ms, lazy, strategy, hidden, icon, empty_fallback, automatic, country, subscription_id, profile_name, intake,
    selected_tag, selected_name
  ON outbound_groups
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER outbound_policy_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON outbound_policy
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER rules_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF source, subscription_id, rule_set_id, type, payload, target, no_resolve, src, enabled,
    after_profile, priority
  ON rules
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER rule_sets_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON rule_sets
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER rule_set_entries_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON rule_set_entries
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');

CREATE OR REPLACE TRIGGER settings_publication
  AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON settings
  FOR EACH STATEMENT EXECUTE FUNCTION mark_publication_change('config');
