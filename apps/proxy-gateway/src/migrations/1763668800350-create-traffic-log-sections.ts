import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Which pieces of text may occur in about two thousand rows that follow each other: what a search need not read.
  // Null: not known (yet), so that every search reads those rows.
  `CREATE TABLE traffic_log_sections (
    id uuid PRIMARY KEY,
    first_at timestamptz(3) NOT NULL,
    last_at timestamptz(3) NOT NULL,
    row_count integer NOT NULL,
    grams bytea
  ) WITH (fillfactor = 70)`,
  // CREATE TABLE itself takes STORAGE from PostgreSQL 16 on.
  'ALTER TABLE traffic_log_sections ALTER COLUMN grams SET STORAGE EXTERNAL',
  // Rows that are there already: the hourly sweep reads them and tells what is in them.
  `INSERT INTO traffic_log_sections (id, first_at, last_at, row_count)
   SELECT gen_random_uuid(), day::timestamp AT TIME ZONE 'UTC',
     (day + 1)::timestamp AT TIME ZONE 'UTC' - interval '1 millisecond', least(row_count, 2147483647)
   FROM traffic_log_days`,
];

export class CreateTrafficLogSections1763668800350 implements MigrationInterface {
  name = 'CreateTrafficLogSections1763668800350';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const sql of STATEMENTS) await queryRunner.query(sql);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE traffic_log_sections');
  }
}
