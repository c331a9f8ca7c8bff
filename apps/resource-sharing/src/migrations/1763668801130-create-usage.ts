import type { MigrationInterface, QueryRunner } from 'typeorm';

// 0 stands for none: these columns are keys. A personal key has no application, an application counts for all its secrets.
const OF_WHOM = `
    day date NOT NULL,
    application_id bigint NOT NULL,
    credential_id bigint NOT NULL,
    user_id bigint NOT NULL,`;

const COUNTS = `
    total_calls bigint NOT NULL,
    success_calls bigint NOT NULL,
    failed_calls bigint NOT NULL,
    latency_us bigint NOT NULL,`;

const STATEMENTS = [
  `CREATE TABLE usage_daily (${OF_WHOM}${COUNTS}
    buckets bigint[] NOT NULL,
    CONSTRAINT usage_daily_pkey PRIMARY KEY (application_id, credential_id, day, user_id)
  ) WITH (fillfactor = 70)`,
  `CREATE TABLE usage_endpoint_daily (${OF_WHOM}
    method text NOT NULL,
    endpoint text NOT NULL,${COUNTS}
    CONSTRAINT usage_endpoint_daily_pkey PRIMARY KEY (application_id, credential_id, day, user_id, endpoint, method)
  ) WITH (fillfactor = 70)`,
  'CREATE INDEX usage_daily_day_idx ON usage_daily (day)',
  'CREATE INDEX usage_endpoint_daily_day_idx ON usage_endpoint_daily (day)',
  `CREATE FUNCTION add_buckets(p_one bigint[], p_other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS
    $$ SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY i)
       FROM unnest(p_one, p_other) WITH ORDINALITY AS pairs (a, b, i) $$`,
  `CREATE AGGREGATE sum_buckets(bigint[]) (SFUNC = add_buckets, STYPE = bigint[], INITCOND = '{}')`,
];

export class CreateUsage1763668801130 implements MigrationInterface {
  name = 'CreateUsage1763668801130';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP AGGREGATE sum_buckets(bigint[])');
    await queryRunner.query('DROP FUNCTION add_buckets(bigint[], bigint[])');
    await queryRunner.query('DROP TABLE usage_endpoint_daily, usage_daily');
  }
}
