import { createAuditTables, dropAuditTables } from '@gatehouse/audit';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const SCHEMA = 'tunnel_gateway_ops';

export class CreateAuditLogs1763668802401 implements MigrationInterface {
  name = 'CreateAuditLogs1763668802401';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createAuditTables(queryRunner, SCHEMA);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropAuditTables(queryRunner, SCHEMA);
  }
}
