import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For lists of very many rules in the orders that people look at, and for whether there are any about countries. */
export class IndexRuleLists1763668802172 implements MigrationInterface {
  name = 'IndexRuleLists1763668802172';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'CREATE INDEX ip_rules_priority_idx ON tunnel_gateway.ip_rules (coalesce(priority, 0), id)',
    );
    await queryRunner.query(
      `CREATE INDEX ip_rules_pattern_idx ON tunnel_gateway.ip_rules (lower(coalesce(pattern, '')), id)`,
    );
    await queryRunner.query(
      `CREATE INDEX ip_rules_country_idx ON tunnel_gateway.ip_rules (id) WHERE pattern_kind = 'country'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of ['priority', 'pattern', 'country']) {
      await queryRunner.query(`DROP INDEX tunnel_gateway.ip_rules_${name}_idx`);
    }
  }
}
