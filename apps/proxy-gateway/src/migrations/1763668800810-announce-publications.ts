import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/** Consoles hear of changed publications. */
export class AnnouncePublications1763668800810 extends SqlVersion {
  name = 'AnnouncePublications1763668800810';
  readonly oldestRelease = '0.1.0';
  sqlChecksum = '4b40a69e2b7ff31cb9c0a267995a23e24c2f7ac24e1fac814d00454de99ec035';

  /** The SQL files of the version before do not have this trigger. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER IF EXISTS publications_announce ON publications');
  }
}
