import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyKeys1763668801123 implements MigrationInterface {
  name = 'CreateIdempotencyKeys1763668801123';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Written in the transaction of the request itself: a row is there exactly when the request was carried out.
    await queryRunner.query(`
      CREATE TABLE idempotency_keys (
        user_id bigint NOT NULL,
        application_id bigint NOT NULL,
        key text NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (length(key) BETWEEN 1 AND 255),
        request_hash text NOT NULL,
        answer jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, application_id, key)
      )`);
    await queryRunner.query('CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE idempotency_keys');
  }
}
