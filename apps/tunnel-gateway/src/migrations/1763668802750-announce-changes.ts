import { SqlVersion } from '@gatehouse/persistence';
import type { QueryRunner } from 'typeorm';

/** Consoles hear of changed lists. */
export class AnnounceChanges1763668802750 extends SqlVersion {
  name = 'AnnounceChanges1763668802750';
  sqlChecksum = '3efd3022df950b04360b13e590f60902ffe89a422a52b2c3c728f26b9eaddaff';

  /** Older migrations drop columns that the triggers name. */
  override async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION IF EXISTS tunnel_gateway_ops.announce_change() CASCADE');
  }
}
