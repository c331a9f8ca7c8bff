import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/** Documents of publications are kept until something changes that they are made from. */
export class MarkPublicationChanges1763668800910 extends SqlVersion {
  name = 'MarkPublicationChanges1763668800910';
  readonly oldestRelease = '0.1.0';
  sqlChecksum = '9ac8931a3a241c0f4cd50a46d875bb729af963862607b8b9647d2600dfa1cdd0';

  /** Older migrations drop columns that the triggers name. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION IF EXISTS mark_publication_change() CASCADE');
  }
}
