import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who was let in to raw tunnels, guesses at their passwords, and what policies of type `oauth` need. */
export class CreateVisitorGrants1763668802180 implements MigrationInterface {
  name = 'CreateVisitorGrants1763668802180';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...OPTIONS, ...TABLES, TELL, ...TELLING, END, ...ENDING]) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['auth_policies', 'tunnels', 'clients']) {
      await queryRunner.query(`DROP TRIGGER end_grants ON tunnel_gateway.${table}`);
    }
    for (const table of ['visitor_grants', 'visitor_tries']) {
      await queryRunner.query(`DROP TABLE tunnel_gateway_ops.${table}`);
    }
    for (const name of ['end_grants', 'tell_grants']) {
      await queryRunner.query(`DROP FUNCTION tunnel_gateway_ops.${name}`);
    }
    await queryRunner.query('DROP TRIGGER policy_options_revision ON tunnel_gateway_ops.policy_options');
    await queryRunner.query(
      'ALTER TABLE tunnel_gateway_ops.policy_options DROP COLUMN oauth, DROP COLUMN sealed_secret',
    );
    await queryRunner.query(revisionTrigger('copy_headers, allow_private'));
  }
}

const OPTIONS = [
  'ALTER TABLE tunnel_gateway_ops.policy_options ADD COLUMN oauth jsonb, ADD COLUMN sealed_secret text',
  'DROP TRIGGER policy_options_revision ON tunnel_gateway_ops.policy_options',
  revisionTrigger('copy_headers, allow_private, oauth, sealed_secret'),
];

function revisionTrigger(columns: string): string {
  return `
    CREATE CONSTRAINT TRIGGER policy_options_revision
    AFTER INSERT OR DELETE OR UPDATE OF ${columns} ON tunnel_gateway_ops.policy_options
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tunnel_gateway_ops.count_revision()`;
}

const TABLES = [
  `CREATE TABLE tunnel_gateway_ops.visitor_grants (
    tunnel_id bigint NOT NULL
      CONSTRAINT visitor_grants_tunnel_fk REFERENCES tunnel_gateway.tunnels (id) ON DELETE CASCADE,
    policy_id bigint NOT NULL
      CONSTRAINT visitor_grants_policy_fk REFERENCES tunnel_gateway.auth_policies (id) ON DELETE CASCADE,
    address text NOT NULL CONSTRAINT visitor_grants_address_check CHECK (length(address) BETWEEN 2 AND 45),
    policy_version bigint NOT NULL,
    until timestamptz NOT NULL,
    once boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT visitor_grants_pkey PRIMARY KEY (tunnel_id, policy_id, address)
  )`,
  'CREATE INDEX visitor_grants_policy_idx ON tunnel_gateway_ops.visitor_grants (policy_id)',
  'CREATE INDEX visitor_grants_until_idx ON tunnel_gateway_ops.visitor_grants (until)',
  // What is lost when the database crashes is a minute of counting.
  `CREATE UNLOGGED TABLE tunnel_gateway_ops.visitor_tries (
    policy_id bigint NOT NULL,
    client text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    count integer NOT NULL,
    CONSTRAINT visitor_tries_pkey PRIMARY KEY (policy_id, client)
  )`,
];

/** Edges hear of each grant; of many at a time they hear that they are to read them. What is over anyway is no news. */
const TELL = `
  CREATE FUNCTION tunnel_gateway_ops.tell_grants() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    part text;
  BEGIN
    IF (SELECT count(*) FROM (SELECT 1 FROM changed WHERE until > now() LIMIT 201) AS many) > 200 THEN
      PERFORM pg_notify('tunnel_gateway:grants', 'all');
      RETURN NULL;
    END IF;
    FOR part IN
      SELECT jsonb_agg(jsonb_build_object(
        'tunnelId', tunnel_id, 'policyId', policy_id, 'address', address, 'policyVersion', policy_version,
        'until', (extract(epoch FROM until) * 1000)::bigint, 'once', once, 'ended', TG_OP = 'DELETE'))::text
      FROM (SELECT *, row_number() OVER () AS place FROM changed WHERE until > now()) AS numbered
      GROUP BY (place - 1) / 20
    LOOP
      PERFORM pg_notify('tunnel_gateway:grants', part);
    END LOOP;
    RETURN NULL;
  END $$`;

const TELLING = [
  ['insert', 'INSERT', 'NEW'],
  ['update', 'UPDATE', 'NEW'],
  ['delete', 'DELETE', 'OLD'],
].map(
  ([name, event, table]) => `
    CREATE TRIGGER tell_${name} AFTER ${event} ON tunnel_gateway_ops.visitor_grants
    REFERENCING ${table} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.tell_grants()`,
);

/** What was granted ends with what it was granted for. */
const END = `
  CREATE FUNCTION tunnel_gateway_ops.end_grants() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_ARGV[0] = 'policy' THEN
      DELETE FROM tunnel_gateway_ops.visitor_grants WHERE policy_id = NEW.id;
    ELSIF TG_ARGV[0] = 'tunnel' THEN
      DELETE FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id = NEW.id;
    ELSE
      DELETE FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id IN (
        SELECT id FROM tunnel_gateway.tunnels WHERE client_id = NEW.id);
    END IF;
    RETURN NULL;
  END $$`;

const ENDING = [
  // Every change of a policy sets it, also one of its options.
  endTrigger('auth_policies', 'policy', ['enabled', 'updated_at']),
  endTrigger('tunnels', 'tunnel', ['client_id', 'mode', 'listen_ip', 'listen_port', 'target_addr', 'status']),
  endTrigger('clients', 'client', ['status']),
];

function endTrigger(table: string, kind: string, columns: string[]): string {
  const changed = columns.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');
  return `
    CREATE TRIGGER end_grants AFTER UPDATE OF ${columns.join(', ')} ON tunnel_gateway.${table}
    FOR EACH ROW WHEN (${changed}) EXECUTE FUNCTION tunnel_gateway_ops.end_grants('${kind}')`;
}
