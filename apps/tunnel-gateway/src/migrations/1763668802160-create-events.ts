import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What happened, for people, streams and webhooks. */
export class CreateEvents1763668802160 implements MigrationInterface {
  name = 'CreateEvents1763668802160';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...TABLE, NUMBER, TRIGGER]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.events');
    await queryRunner.query('DROP FUNCTION tunnel_gateway_ops.number_event');
    await queryRunner.query('DROP SEQUENCE tunnel_gateway_ops.event_numbers');
  }
}

const TABLE = [
  'CREATE SEQUENCE tunnel_gateway_ops.event_numbers',
  `CREATE TABLE tunnel_gateway_ops.events (
    entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id bigint CONSTRAINT events_id_key UNIQUE,
    type text NOT NULL,
    resource_type text,
    resource_id bigint,
    owner_user_id bigint,
    message text NOT NULL,
    data jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT events_resource_check CHECK ((resource_type IS NULL) = (resource_id IS NULL))
  )`,
  'CREATE INDEX events_owner_user_id_idx ON tunnel_gateway_ops.events (owner_user_id, id)',
  'CREATE INDEX events_resource_idx ON tunnel_gateway_ops.events (resource_type, resource_id, id)',
  'CREATE INDEX events_type_idx ON tunnel_gateway_ops.events (type, id)',
  'CREATE INDEX events_created_at_idx ON tunnel_gateway_ops.events (created_at)',
];

/**
 * Numbers at the commit, one transaction after the other: who has seen an id never finds a lower one later. The lock is
 * the row that the revision is counted in: with another one, two transactions could wait for each other.
 */
const NUMBER = `
  CREATE FUNCTION tunnel_gateway_ops.number_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM 1 FROM tunnel_gateway_ops.config_revision WHERE id = 1 FOR UPDATE;
    UPDATE tunnel_gateway_ops.events SET id = nextval('tunnel_gateway_ops.event_numbers') WHERE entry = NEW.entry;
    PERFORM pg_notify('tunnel_gateway:events', '');
    RETURN NULL;
  END $$`;

/** Rows that a backup brings back have their numbers. */
const TRIGGER = `
  CREATE CONSTRAINT TRIGGER events_number AFTER INSERT ON tunnel_gateway_ops.events
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id IS NULL)
  EXECUTE FUNCTION tunnel_gateway_ops.number_event()`;
