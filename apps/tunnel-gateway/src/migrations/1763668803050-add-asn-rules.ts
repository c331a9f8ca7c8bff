import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'exact', 'cidr', 'wildcard', 'range', 'country'`;

/** Rules about autonomous systems, and whether there are any. */
export class AddAsnRules1763668803050 implements MigrationInterface {
  name = 'AddAsnRules1763668803050';

  async up(queryRunner: QueryRunner): Promise<void> {
    await setKinds(queryRunner, `${KINDS}, 'asn'`);
    await queryRunner.query(`CREATE INDEX ip_rules_asn_idx ON tunnel_gateway.ip_rules (id) WHERE pattern_kind = 'asn'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX tunnel_gateway.ip_rules_asn_idx');
    // Fails while there are such rules: without them, others would come in.
    await setKinds(queryRunner, KINDS);
  }
}

async function setKinds(queryRunner: QueryRunner, kinds: string): Promise<void> {
  await queryRunner.query(
    `ALTER TABLE tunnel_gateway.ip_rules DROP CONSTRAINT ip_rules_pattern_kind_check,
     ADD CONSTRAINT ip_rules_pattern_kind_check CHECK (pattern_kind IN (${kinds}))`,
  );
}
