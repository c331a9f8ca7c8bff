import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which rows the last revisions of the configuration changed, so that edges read those alone. */
export class CreateConfigChanges1763668802171 implements MigrationInterface {
  name = 'CreateConfigChanges1763668802171';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(TABLE);
    await queryRunner.query(COUNT_AND_NOTE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(COUNT_ALONE);
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.config_changes');
  }
}

/** `kind` `all`: too much, or what no edge reads row by row. */
const TABLE = `
  CREATE TABLE tunnel_gateway_ops.config_changes (
    revision bigint NOT NULL,
    kind text NOT NULL CONSTRAINT config_changes_kind_check
      CHECK (kind IN ('users', 'clients', 'tunnels', 'hosts', 'ip_rules', 'auth_policies', 'all')),
    row_id bigint NOT NULL,
    PRIMARY KEY (revision, kind, row_id)
  )`;

/**
 * Runs at the commit for every row that changed. The first counts, for the whole transaction: the order of revisions is the
 * order of commits, and no transaction waits for the row while it still wants other locks. The last thousand revisions are
 * kept, of each the first 500 rows.
 */
const COUNT_AND_NOTE = `
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
        WHEN 'ip_rules' THEN 'ip_rules'
        WHEN 'auth_policies' THEN 'auth_policies' WHEN 'policy_options' THEN 'auth_policies'
        ELSE 'all' END END AS kind,
      (CASE TG_TABLE_NAME
        WHEN 'client_options' THEN changed ->> 'client_id' WHEN 'tunnel_options' THEN changed ->> 'tunnel_id'
        WHEN 'host_options' THEN changed ->> 'host_id' WHEN 'certificates' THEN changed ->> 'host_id'
        WHEN 'policy_options' THEN changed ->> 'policy_id'
        ELSE changed ->> 'id' END)::bigint AS row_id) AS note
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$`;

/** As it was before. */
const COUNT_ALONE = `
  CREATE OR REPLACE FUNCTION tunnel_gateway_ops.count_revision() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    current text := txid_current()::text;
    latest bigint;
  BEGIN
    IF current_setting('tunnel_gateway.counted', true) IS NOT DISTINCT FROM current THEN
      RETURN NULL;
    END IF;
    PERFORM set_config('tunnel_gateway.counted', current, true);
    UPDATE tunnel_gateway_ops.config_revision SET revision = revision + 1 RETURNING revision INTO latest;
    PERFORM pg_notify('tunnel_gateway:config', latest::text);
    RETURN NULL;
  END $$`;
