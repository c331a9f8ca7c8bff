import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Another account's share of the same link may not be committed yet, and then only the unique index finds it. The former
 * share stays shut in that case, and the account is enabled all the same.
 */
const REOPEN = `
      FOR share IN EXECUTE format('SELECT max(id) FROM %I.shares
        WHERE owner_id = $1 AND shut_with_owner GROUP BY link_key ORDER BY 1', TG_TABLE_SCHEMA) USING NEW.id LOOP
        BEGIN
          EXECUTE format('UPDATE %I.shares SET deleted_at = NULL WHERE id = $1', TG_TABLE_SCHEMA) USING share;
        EXCEPTION WHEN unique_violation THEN
          NULL;
        END;
      END LOOP;`;
/** As it was. */
const REOPEN_AT_ONCE = `
      EXECUTE format('UPDATE %1$I.shares s SET deleted_at = NULL
        WHERE s.owner_id = $1 AND s.shut_with_owner AND NOT EXISTS (
          SELECT FROM %1$I.shares o WHERE o.link_key = s.link_key AND o.deleted_at IS NULL)
        AND s.id = (SELECT max(t.id) FROM %1$I.shares t
          WHERE t.owner_id = $1 AND t.shut_with_owner AND t.link_key = s.link_key)', TG_TABLE_SCHEMA) USING NEW.id;`;

function shutOrReopen(reopen: string): string {
  return `CREATE OR REPLACE FUNCTION shut_shares_with_owner() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    share bigint;
  BEGIN
    IF NEW.disabled_at IS NOT NULL THEN
      EXECUTE format('UPDATE %I.shares SET deleted_at = now(), shut_with_owner = true
        WHERE owner_id = $1 AND deleted_at IS NULL', TG_TABLE_SCHEMA) USING NEW.id;
    ELSE${reopen}
      EXECUTE format('UPDATE %I.shares SET shut_with_owner = false
        WHERE owner_id = $1 AND shut_with_owner', TG_TABLE_SCHEMA) USING NEW.id;
    END IF;
    RETURN NULL;
  END $$`;
}

export class ReopenSharesOneByOne1763668801691 implements MigrationInterface {
  name = 'ReopenSharesOneByOne1763668801691';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shutOrReopen(REOPEN));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(shutOrReopen(REOPEN_AT_ONCE));
  }
}
