import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyKeys1763668800240 implements MigrationInterface {
  name = 'CreateIdempotencyKeys1763668800240';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The answer is sealed: that of POST /api-keys holds the key. Null while the request runs.
    await queryRunner.query(`
      CREATE TABLE idempotency_keys (
        actor text NOT NULL,
        key text NOT NULL,
        request_hash text NOT NULL,
        sealed_answer text,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (actor, key)
      )`);
    await queryRunner.query('CREATE INDEX idempotency_keys_age_idx ON idempotency_keys (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE idempotency_keys');
  }
}
