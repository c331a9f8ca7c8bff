import { createAuditTables, dropAuditTables } from '@gatehouse/audit';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const SCHEMA = 'resource_sharing';

const STATEMENTS = [
  // Events that the chain of the audit log does not have yet: ids given in one order may be committed in another.
  'CREATE TABLE unchained_events (event_id bigint PRIMARY KEY)',
  `CREATE FUNCTION note_unchained_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO unchained_events (event_id) VALUES (NEW.id);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER audit_events_unchained AFTER INSERT ON audit_events
    FOR EACH ROW EXECUTE FUNCTION note_unchained_event()`,
  'INSERT INTO unchained_events (event_id) SELECT id FROM audit_events',
];

/** The log of administration, and a place in its chain for every event of the trail. */
export class ChainAuditEvents1763668801400 implements MigrationInterface {
  name = 'ChainAuditEvents1763668801400';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createAuditTables(queryRunner, SCHEMA);
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER audit_events_unchained ON audit_events');
    await queryRunner.query('DROP FUNCTION note_unchained_event()');
    await queryRunner.query('DROP TABLE unchained_events');
    await dropAuditTables(queryRunner, SCHEMA);
  }
}
