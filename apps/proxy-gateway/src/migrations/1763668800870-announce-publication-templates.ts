import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/** Consoles hear of changed templates. */
export class AnnouncePublicationTemplates1763668800870 extends SqlVersion {
  name = 'AnnouncePublicationTemplates1763668800870';
  readonly oldestRelease = '0.1.0';
  sqlChecksum = 'cc27b6802242ef2a0c94cf80b41319a0d815e384436fd185cf1939a155ef66e5';

  /** The SQL files of the version before do not have this trigger. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER IF EXISTS publication_templates_announce ON publication_templates');
  }
}
