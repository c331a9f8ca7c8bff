import type { SqlRunner } from './auth-tables.js';

/** Makes the tables of SecondFactors in the first schema of the search path. `users`: the table of accounts. */
export async function createSecondFactorTables(runner: SqlRunner, users: string): Promise<void> {
  // Without confirmed_at it is being set up and asked for by nothing.
  await runner.query(`CREATE TABLE user_totp (
    user_id bigint PRIMARY KEY CONSTRAINT user_totp_user_fk REFERENCES ${users} (id) ON DELETE CASCADE,
    sealed_secret text NOT NULL,
    confirmed_at timestamptz,
    last_step bigint NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    failures_since timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now()
  )`);
  await runner.query(`CREATE TABLE recovery_codes (
    user_id bigint NOT NULL CONSTRAINT recovery_codes_user_fk REFERENCES user_totp (user_id) ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    PRIMARY KEY (user_id, code_hash)
  )`);
}

export async function dropSecondFactorTables(runner: SqlRunner): Promise<void> {
  await runner.query('DROP TABLE recovery_codes');
  await runner.query('DROP TABLE user_totp');
}
