import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Whoever changes an account, every replica hears of it: see credentials/revocations.ts.
  `CREATE FUNCTION announce_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    next bigint;
  BEGIN
    EXECUTE format('INSERT INTO %I.revocation_epoch AS present (epoch) VALUES (1)
      ON CONFLICT (only_row) DO UPDATE SET epoch = present.epoch + 1 RETURNING epoch', TG_TABLE_SCHEMA) INTO next;
    PERFORM pg_notify('resource-sharing:revocations', next || ' user:' || NEW.id);
    RETURN NULL;
  END $$`,
  // Deferred: the row that all revocations share is locked last, and only for the commit.
  `CREATE CONSTRAINT TRIGGER site_accounts_announce
    AFTER UPDATE OF premium_until, permissions, disabled_at ON site_accounts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.premium_until IS DISTINCT FROM NEW.premium_until OR OLD.permissions IS DISTINCT FROM NEW.permissions
      OR OLD.disabled_at IS DISTINCT FROM NEW.disabled_at)
    EXECUTE FUNCTION announce_account_change()`,
];

export class AnnounceAccountChanges1763668801103 implements MigrationInterface {
  name = 'AnnounceAccountChanges1763668801103';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER site_accounts_announce ON site_accounts');
    await queryRunner.query('DROP FUNCTION announce_account_change()');
  }
}
