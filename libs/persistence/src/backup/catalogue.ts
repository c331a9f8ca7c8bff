import { MIGRATIONS_TABLE, quoteIdentifier } from '../data-source.js';
import { RELEASES_TABLE } from '../migration-releases.js';
import { appliedMigrations } from '../migrations.js';
import type { PgConnection } from '../pg-client.js';
import { SQL_FILES_TABLE } from '../sql-files.js';
import {
  BackupError,
  isPartitionBound,
  type BackupHeader,
  type BackupPartition,
  type BackupSequence,
} from './backup-header.js';

/**
 * The services' schemas. Queues (schema `bullmq`, or Redis) are left out on purpose: schedulers are set again at boot,
 * jobs that were not relayed yet are in the services' outbox tables, and a restored job would repeat finished work.
 */
export const BACKUP_SCHEMAS: readonly string[] = [
  'proxy_gateway',
  'resource_sharing',
  'resource_sharing_test',
  'resource_sharing_test_view',
  'tunnel_gateway',
  'tunnel_gateway_ops',
];

/** What a backup without logs leaves out: lines of logs, and tables about these lines only. */
export const LOG_TABLES: readonly string[] = [
  'proxy_gateway.traffic_logs',
  'proxy_gateway.traffic_log_days',
  'proxy_gateway.traffic_log_sections',
  'proxy_gateway.runtime_logs',
];

export interface TableShape {
  schema: string;
  name: string;
  /** Columns that store data; generated ones are computed again. */
  columns: string[];
}

export function qualified({ schema, name }: { schema: string; name: string }): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** Gives COPY text the same meaning on every server, and removes its time limit, until the transaction ends. */
export async function fixTextFormat(client: PgConnection): Promise<void> {
  await client.query(`SET LOCAL client_encoding = 'UTF8'; SET LOCAL datestyle = 'ISO, YMD';
    SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 3;
    SET LOCAL bytea_output = 'hex'; SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0`);
}

/** The existing ones among `wanted`, each with its migrations. */
export async function readSchemas(client: PgConnection, wanted: readonly string[]): Promise<BackupHeader['schemas']> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY($1) ORDER BY nspname',
    [wanted],
  );
  const schemas: BackupHeader['schemas'] = [];
  for (const { name } of rows) schemas.push({ name, migrations: await appliedMigrations(client, name) });
  return schemas;
}

/** Tables with data, parents before the tables that refer to them, without the tables that describe the schema. */
export async function readTables(client: PgConnection, schemas: readonly string[]): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape & { oid: number }>(
    `SELECT c.oid::int AS oid, n.nspname AS schema, c.relname AS name,
            coalesce(array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = ''), '{}') AS columns
       FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> ALL ($2)
      GROUP BY c.oid, n.nspname, c.relname
      ORDER BY n.nspname, c.relname`,
    [schemas, [MIGRATIONS_TABLE, RELEASES_TABLE, SQL_FILES_TABLE]],
  );
  const references = await client.query<{ child: number; parent: number }>(
    `SELECT DISTINCT conrelid::int AS child, confrelid::int AS parent
       FROM pg_constraint WHERE contype = 'f' AND conrelid <> confrelid`,
  );
  return parentsFirst(rows, references.rows)
    .filter(({ columns }) => columns.length > 0)
    .map(({ schema, name, columns }) => ({ schema, name, columns }));
}

/** A depth-first order; in a cycle of references one table has to be first, which deferred constraints allow. */
export function parentsFirst<Table extends { oid: number }>(
  tables: readonly Table[],
  references: readonly { child: number; parent: number }[],
): Table[] {
  const byOid = new Map(tables.map((table) => [table.oid, table]));
  const ordered = new Set<Table>();
  const entered = new Set<number>();
  const visit = (table: Table): void => {
    if (entered.has(table.oid)) return;
    entered.add(table.oid);
    for (const { child, parent } of references) {
      const referred = child === table.oid ? byOid.get(parent) : undefined;
      if (referred !== undefined) visit(referred);
    }
    ordered.add(table);
  };
  for (const table of tables) visit(table);
  return [...ordered];
}

export async function readSequences(client: PgConnection, schemas: readonly string[]): Promise<BackupSequence[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    'SELECT schemaname AS schema, sequencename AS name FROM pg_sequences WHERE schemaname = ANY($1) ORDER BY 1, 2',
    [schemas],
  );
  const sequences: BackupSequence[] = [];
  for (const { schema, name } of rows) {
    if (name === `${MIGRATIONS_TABLE}_id_seq`) continue;
    const state = await client.query<{ value: string; called: boolean }>(
      `SELECT last_value::text AS value, is_called AS called FROM ${qualified({ schema, name })}`,
    );
    const [row] = state.rows;
    if (row !== undefined) sequences.push({ schema, name, ...row });
  }
  return sequences;
}

/** Parts of partitioned tables; of those parts no further ones. Needs the text format that fixTextFormat() sets. */
export async function readPartitions(client: PgConnection, schemas: readonly string[]): Promise<BackupPartition[]> {
  const { rows } = await client.query<BackupPartition>(
    `SELECT n.nspname AS schema, part.relname AS name, whole.relname AS parent,
            pg_get_expr(part.relpartbound, part.oid) AS bound
       FROM pg_inherits i
       JOIN pg_class part ON part.oid = i.inhrelid
       JOIN pg_class whole ON whole.oid = i.inhparent
       JOIN pg_namespace n ON n.oid = whole.relnamespace
      WHERE n.nspname = ANY($1) AND part.relispartition AND part.relkind = 'r'
      ORDER BY 1, 3, 2`,
    [schemas],
  );
  const strange = rows.find(({ bound }) => !isPartitionBound(bound));
  if (strange !== undefined) {
    throw new BackupError(
      `The partition ${qualified(strange)} has a bound that cannot be saved: ${strange.bound}.`,
      `分区 ${qualified(strange)} 的边界无法保存：${strange.bound}。`,
    );
  }
  return rows;
}
