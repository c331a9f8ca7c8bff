import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/** Consoles hear of changed lists. */
export class AnnounceChanges1763668800760 extends SqlVersion {
  name = 'AnnounceChanges1763668800760';
  sqlChecksum = 'c08ea9c5a0f2f2850c149ef5283a04b8012c35539121b604e486dc4f08286cff';

  /** Older migrations drop columns that the triggers name. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION IF EXISTS announce_change() CASCADE');
  }
}
