import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateGeoDatabases1763668800332 implements MigrationInterface {
  name = 'CreateGeoDatabases1763668800332';

  async up(queryRunner: QueryRunner): Promise<void> {
    // With their content: the process that downloads need not share a disk with those that look things up.
    await queryRunner.query(`
      CREATE TABLE geo_databases (
        name text PRIMARY KEY,
        content bytea,
        format text,
        database_type text,
        build_time timestamptz,
        entries integer,
        size_bytes integer,
        sha256 text,
        source_url text,
        etag text,
        last_modified text,
        updated_at timestamptz,
        checked_at timestamptz,
        error text
      )`);
    // What cannot be compressed should not be tried.
    await queryRunner.query('ALTER TABLE geo_databases ALTER COLUMN content SET STORAGE EXTERNAL');
    await queryRunner.query(`
      CREATE TABLE geo_updates (
        id integer PRIMARY KEY CONSTRAINT geo_updates_single_check CHECK (id = 1),
        run_id uuid,
        running_since timestamptz,
        last_run_at timestamptz
      )`);
    await queryRunner.query('INSERT INTO geo_updates (id) VALUES (1)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE geo_updates');
    await queryRunner.query('DROP TABLE geo_databases');
  }
}
