import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  /** Of the domain; the constraint keeps the name that it had at the table. */
  readonly domain: string;
  readonly rule: string;
}

const COLUMNS: readonly Column[] = [
  {
    table: 'ledger_transactions',
    column: 'kind',
    type: 'text',
    domain: 'ledger_kind',
    rule: "VALUE IN ('unlock', 'check_in', 'grant', 'share_deletion')",
  },
  {
    table: 'ledger_transactions',
    column: 'ref',
    type: 'text',
    domain: 'ledger_ref',
    rule: 'length(VALUE) BETWEEN 1 AND 200',
  },
  { table: 'ledger_transactions', column: 'note', type: 'text', domain: 'ledger_note', rule: 'length(VALUE) <= 500' },
  { table: 'ledger_entries', column: 'position', type: 'smallint', domain: 'ledger_position', rule: 'VALUE IN (1, 2)' },
  {
    table: 'ledger_entries',
    column: 'system_account',
    type: 'text',
    domain: 'ledger_system_account',
    rule: "VALUE IN ('grants', 'check_ins', 'fees')",
  },
  { table: 'ledger_entries', column: 'amount', type: 'bigint', domain: 'ledger_amount', rule: 'VALUE <> 0' },
  { table: 'ledger_entries', column: 'balance_after', type: 'bigint', domain: 'ledger_balance', rule: 'VALUE >= 0' },
  { table: 'ledger_entries', column: 'account_version', type: 'bigint', domain: 'ledger_version', rule: 'VALUE > 0' },
  {
    table: 'unlocks',
    column: 'via',
    type: 'text',
    domain: 'unlock_way',
    rule: "VALUE IN ('free', 'official', 'weekly_free', 'points')",
  },
];

interface Check {
  readonly table: string;
  readonly name: string;
  readonly former: string;
  readonly shorter: string;
}

/** The same rules in fewer words, for they are parsed as well. */
const CHECKS: readonly Check[] = [
  {
    table: 'ledger_entries',
    name: 'ledger_entries_party_check',
    former: `CASE WHEN user_id IS NULL THEN system_account IS NOT NULL AND num_nulls(balance_after, account_version) = 2
      ELSE system_account IS NULL AND num_nulls(balance_after, account_version) = 0 END`,
    shorter: 'num_nonnulls(user_id, balance_after, account_version) = 3 * num_nulls(system_account)',
  },
  {
    table: 'ledger_accounts',
    name: 'ledger_accounts_version_check',
    former: 'version > 0 OR (version = 0 AND balance = 0)',
    // The balance is never below zero by another check.
    shorter: 'least(balance, 1) <= version',
  },
];

const SCHEMAS = ['resource_sharing', 'resource_sharing_test'];
const TABLES = [...new Set([...COLUMNS, ...CHECKS].map(({ table }) => table))];

/**
 * Rules about one column of the tables that each unlock writes are those of its type. PostgreSQL parses the CHECKs of a
 * table for every statement that writes to it, those of a domain once a connection. No table is written again; the index
 * of the chain is, and each table is read.
 */
export class CheckColumnsByDomains1763668801831 implements MigrationInterface {
  name = 'CheckColumnsByDomains1763668801831';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const { domain, type } of COLUMNS)
      await queryRunner.query(`CREATE DOMAIN resource_sharing.${domain} AS ${type}`);
    await alterTables(queryRunner, {
      ofColumn: ({ table, column, domain }) => [
        `DROP CONSTRAINT ${checkOf(table, column)}`,
        `ALTER COLUMN ${column} TYPE resource_sharing.${domain}`,
      ],
      rule: ({ shorter }) => shorter,
    });
    // After the columns: with a constraint the change of a type would write the table again.
    for (const { table, column, domain, rule } of COLUMNS) {
      const constraint = `${checkOf(table, column)} CHECK (${rule})`;
      await queryRunner.query(`ALTER DOMAIN resource_sharing.${domain} ADD CONSTRAINT ${constraint}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await alterTables(queryRunner, {
      ofColumn: ({ table, column, type, rule }) => [
        `ALTER COLUMN ${column} TYPE ${type}`,
        `ADD CONSTRAINT ${checkOf(table, column)} CHECK (${rule.replace('VALUE', column)})`,
      ],
      rule: ({ former }) => former,
    });
    for (const { domain } of COLUMNS) await queryRunner.query(`DROP DOMAIN resource_sharing.${domain}`);
  }
}

interface Changes {
  readonly ofColumn: (column: Column) => string[];
  readonly rule: (check: Check) => string;
}

/** One statement a table, so that an index is built once at most. */
async function alterTables(queryRunner: QueryRunner, { ofColumn, rule }: Changes): Promise<void> {
  for (const schema of SCHEMAS) {
    for (const table of TABLES) {
      const checks = CHECKS.filter((check) => check.table === table);
      const changes = [
        ...checks.map(({ name }) => `DROP CONSTRAINT ${name}`),
        ...COLUMNS.filter((column) => column.table === table).flatMap(ofColumn),
        ...checks.map((check) => `ADD CONSTRAINT ${check.name} CHECK (${rule(check)})`),
      ];
      await queryRunner.query(`ALTER TABLE ${schema}.${table} ${changes.join(', ')}`);
    }
  }
}

const checkOf = (table: string, column: string): string => `${table}_${column}_check`;
