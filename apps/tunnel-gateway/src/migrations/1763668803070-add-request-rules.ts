import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'exact', 'cidr', 'wildcard', 'range', 'country', 'asn'`;

/** Rules about paths and methods of requests, and about every address. */
export class AddRequestRules1763668803070 implements MigrationInterface {
  name = 'AddRequestRules1763668803070';

  async up(queryRunner: QueryRunner): Promise<void> {
    await setKinds(queryRunner, `${KINDS}, 'any'`);
    await queryRunner.query(TABLE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // Fails while there are such rules: without them, others would come in.
    await queryRunner.query(`
      DO $$ BEGIN
        IF EXISTS (SELECT FROM tunnel_gateway_ops.ip_rule_options WHERE paths IS NOT NULL OR methods IS NOT NULL) THEN
          RAISE EXCEPTION 'there are rules about requests: remove them first';
        END IF;
      END $$`);
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.ip_rule_options');
    await setKinds(queryRunner, KINDS);
  }
}

const TABLE = `
  CREATE TABLE tunnel_gateway_ops.ip_rule_options (
    rule_id bigint PRIMARY KEY CONSTRAINT ip_rule_options_rule_fk
      REFERENCES tunnel_gateway.ip_rules (id) ON DELETE CASCADE,
    paths jsonb CONSTRAINT ip_rule_options_paths_check CHECK (jsonb_typeof(paths) = 'array' AND paths <> '[]'),
    methods jsonb CONSTRAINT ip_rule_options_methods_check CHECK (jsonb_typeof(methods) = 'array' AND methods <> '[]')
  )`;

async function setKinds(queryRunner: QueryRunner, kinds: string): Promise<void> {
  await queryRunner.query(
    `ALTER TABLE tunnel_gateway.ip_rules DROP CONSTRAINT ip_rules_pattern_kind_check,
     ADD CONSTRAINT ip_rules_pattern_kind_check CHECK (pattern_kind IN (${kinds}))`,
  );
}
