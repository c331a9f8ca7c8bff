import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Taken back because its sharer was disabled: comes back with them.
  'ALTER TABLE shares ADD COLUMN shut_with_owner boolean NOT NULL DEFAULT false',
  // As if taken back, without the fee: nobody finds or unlocks it, who had unlocked it keeps it, and its link may be shared
  // by others. Whatever reads or unlocks shares knows nothing of disabled accounts and pays nothing for it.
  `CREATE FUNCTION shut_shares_with_owner() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.disabled_at IS NOT NULL THEN
      EXECUTE format('UPDATE %I.shares SET deleted_at = now(), shut_with_owner = true
        WHERE owner_id = $1 AND deleted_at IS NULL', TG_TABLE_SCHEMA) USING NEW.id;
    ELSE
      -- A link that somebody shared meanwhile stays theirs.
      EXECUTE format('UPDATE %1$I.shares s SET deleted_at = NULL, shut_with_owner = false
        WHERE s.owner_id = $1 AND s.shut_with_owner AND NOT EXISTS (
          SELECT FROM %1$I.shares o WHERE o.link_key = s.link_key AND o.deleted_at IS NULL)
        AND s.id = (SELECT max(t.id) FROM %1$I.shares t
          WHERE t.owner_id = $1 AND t.shut_with_owner AND t.link_key = s.link_key)', TG_TABLE_SCHEMA) USING NEW.id;
      EXECUTE format('UPDATE %I.shares SET shut_with_owner = false
        WHERE owner_id = $1 AND shut_with_owner', TG_TABLE_SCHEMA) USING NEW.id;
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER site_accounts_shut_shares AFTER UPDATE OF disabled_at ON site_accounts FOR EACH ROW
    WHEN ((OLD.disabled_at IS NULL) <> (NEW.disabled_at IS NULL)) EXECUTE FUNCTION shut_shares_with_owner()`,
  // Somebody who is disabled in the moment when they share: the account's row makes the two wait for each other.
  `CREATE FUNCTION shut_new_share() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    disabled timestamptz;
  BEGIN
    EXECUTE format('SELECT disabled_at FROM %I.site_accounts WHERE id = $1 FOR SHARE', TG_TABLE_SCHEMA)
      INTO disabled USING NEW.owner_id;
    IF disabled IS NOT NULL AND NEW.deleted_at IS NULL THEN
      NEW.deleted_at := now();
      NEW.shut_with_owner := true;
    END IF;
    RETURN NEW;
  END $$`,
  'CREATE TRIGGER shares_shut_new BEFORE INSERT ON shares FOR EACH ROW EXECUTE FUNCTION shut_new_share()',
  `UPDATE shares s SET deleted_at = now(), shut_with_owner = true FROM site_accounts a
    WHERE a.id = s.owner_id AND a.disabled_at IS NOT NULL AND s.deleted_at IS NULL`,
];

export class ShutSharesWithTheirOwners1763668801160 implements MigrationInterface {
  name = 'ShutSharesWithTheirOwners1763668801160';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER shares_shut_new ON shares');
    await queryRunner.query('DROP FUNCTION shut_new_share()');
    await queryRunner.query('DROP TRIGGER site_accounts_shut_shares ON site_accounts');
    await queryRunner.query('DROP FUNCTION shut_shares_with_owner()');
    await queryRunner.query('ALTER TABLE shares DROP COLUMN shut_with_owner');
  }
}
