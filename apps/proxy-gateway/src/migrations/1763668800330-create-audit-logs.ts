import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuditLogs1763668800330 implements MigrationInterface {
  name = 'CreateAuditLogs1763668800330';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Ids are given under the lock of audit_chain, not by a sequence: a gap means that a row was removed.
    await queryRunner.query(`
      CREATE TABLE audit_logs (
        id bigint PRIMARY KEY,
        created_at timestamptz(3) NOT NULL,
        actor_type text NOT NULL,
        actor_id bigint,
        actor_name text,
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
      )`);
    await queryRunner.query('CREATE INDEX audit_logs_created_at_idx ON audit_logs (created_at)');
    await queryRunner.query('CREATE INDEX audit_logs_action_idx ON audit_logs (action, id)');
    await queryRunner.query('CREATE INDEX audit_logs_resource_idx ON audit_logs (resource_type, resource_id, id)');
    await queryRunner.query(`
      CREATE TABLE audit_chain (
        id integer PRIMARY KEY CONSTRAINT audit_chain_single_check CHECK (id = 1),
        first_id bigint NOT NULL,
        anchor_hash text NOT NULL,
        last_id bigint NOT NULL,
        last_hash text NOT NULL,
        seal text NOT NULL
      )`);
    await queryRunner.query(
      `INSERT INTO audit_chain (id, first_id, anchor_hash, last_id, last_hash, seal) VALUES (1, 1, '', 0, '', '')`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE audit_chain');
    await queryRunner.query('DROP TABLE audit_logs');
  }
}
