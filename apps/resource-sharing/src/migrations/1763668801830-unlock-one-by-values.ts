import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/**
 * An unlock alone costs less: it has a function without arrays and sets, and the check of a ledger transaction looks at
 * its entries and their accounts at once (docs/decisions/0155-cheaper-unlocks.md).
 */
export class UnlockOneByValues1763668801830 extends SqlVersion {
  name = 'UnlockOneByValues1763668801830';
  sqlChecksum = '6dbeca0725741358deb0941a0020f5b285c918bfc7c688c9acd23792121ef16c';

  /** What the SQL files have removed, and new functions of a type that a migration before this one makes. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    for (const schema of ['resource_sharing', 'resource_sharing_test']) {
      await queryRunner.query(`DROP FUNCTION ${schema}.unlock_share, ${schema}.note_unlocks, ${schema}.weigh_unlocks`);
      await queryRunner.query(`CREATE CONSTRAINT TRIGGER ledger_entries_accounted AFTER INSERT ON ${schema}.ledger_entries
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.user_id IS NOT NULL)
        EXECUTE FUNCTION ${schema}.check_ledger_account()`);
    }
  }
}
