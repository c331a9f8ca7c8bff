import type { QueryRunner } from 'typeorm';

/**
 * The tables of the log, for a service's migrations. Ids are assigned under the lock of audit_chain, so a gap is a
 * deleted row.
 */
export async function createAuditTables(queryRunner: QueryRunner, schema: string): Promise<void> {
  for (const statement of statementsFor(schema)) await queryRunner.query(statement);
}

export async function dropAuditTables(queryRunner: QueryRunner, schema: string): Promise<void> {
  await queryRunner.query(`DROP TABLE ${schema}.audit_chain`);
  await queryRunner.query(`DROP TABLE ${schema}.audit_logs`);
}

const statementsFor = (schema: string): string[] => [
  `CREATE TABLE ${schema}.audit_logs (
    id bigint PRIMARY KEY,
    created_at timestamptz(3) NOT NULL,
    actor_type text NOT NULL,
    actor_id bigint,
    actor_name text,
    actor_user text,
    ip text,
    user_agent text,
    request_id text,
    method text,
    path text,
    action text NOT NULL,
    resource_type text,
    resource_id text,
    resource_name text,
    status integer,
    success boolean NOT NULL,
    error text,
    changes jsonb NOT NULL,
    duration_ms integer,
    prev_hash text NOT NULL,
    hash text NOT NULL
  )`,
  `CREATE INDEX audit_logs_created_at_idx ON ${schema}.audit_logs (created_at)`,
  `CREATE INDEX audit_logs_action_idx ON ${schema}.audit_logs (action, id)`,
  `CREATE INDEX audit_logs_resource_idx ON ${schema}.audit_logs (resource_type, resource_id, id)`,
  `CREATE TABLE ${schema}.audit_chain (
    id integer PRIMARY KEY CONSTRAINT audit_chain_single_check CHECK (id = 1),
    first_id bigint NOT NULL,
    anchor_hash text NOT NULL,
    last_id bigint NOT NULL,
    last_hash text NOT NULL,
    seal text NOT NULL
  )`,
  `INSERT INTO ${schema}.audit_chain (id, first_id, anchor_hash, last_id, last_hash, seal) VALUES (1, 1, '', 0, '', '')`,
];
