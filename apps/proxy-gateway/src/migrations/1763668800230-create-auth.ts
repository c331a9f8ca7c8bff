import { createAuthTables, dropAuthTables } from '@gatehouse/auth';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuth1763668800230 implements MigrationInterface {
  name = 'CreateAuth1763668800230';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createAuthTables(queryRunner);
    // One password and no name: the interface knows a single administrator.
    await queryRunner.query(`
      CREATE TABLE administrators (
        id integer PRIMARY KEY CONSTRAINT administrators_single_check CHECK (id = 1),
        password_hash text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE administrators');
    await dropAuthTables(queryRunner);
  }
}
