import type { SqlRunner } from '../tables/auth-tables.js';

/** Creates the table of IdempotencyModule in the first schema of the search path. */
export async function createIdempotencyTable(runner: SqlRunner): Promise<void> {
  // Both are sealed: the answer to POST /api-keys contains the key, and a request may contain a password. Without an
  // answer the request is running.
  await runner.query(`
    CREATE TABLE idempotency_keys (
      actor text NOT NULL,
      key text NOT NULL,
      request_hash text NOT NULL,
      sealed_answer text,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (actor, key)
    )`);
  await runner.query('CREATE INDEX idempotency_keys_age_idx ON idempotency_keys (created_at)');
}

/** The claim of the executing request, and whether one of its transactions was committed. */
export async function addIdempotencyClaims(runner: SqlRunner): Promise<void> {
  await runner.query(
    'ALTER TABLE idempotency_keys ADD COLUMN claim uuid, ADD COLUMN carried_out boolean NOT NULL DEFAULT false',
  );
}

export async function dropIdempotencyClaims(runner: SqlRunner): Promise<void> {
  await runner.query('ALTER TABLE idempotency_keys DROP COLUMN claim, DROP COLUMN carried_out');
}
