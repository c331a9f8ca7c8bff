import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/** Consoles hear of changed users of the proxy. */
export class AnnounceProxyUsers1763668800890 extends SqlVersion {
  name = 'AnnounceProxyUsers1763668800890';
  readonly oldestRelease = '0.1.0';
  sqlChecksum = '55055535c39348ef4539d38874b3c7be539b9279d790a5093f6a1dfc4cb2e580';

  /** The SQL files of the version before do not have this trigger. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER IF EXISTS proxy_users_announce ON proxy_users');
  }
}
