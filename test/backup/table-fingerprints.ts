import { BACKUP_SCHEMAS, type PgConnection } from '@gatehouse/persistence';

/** Tables that say how the schema was made. What ran is what matters, not when, nor by which number. */
const HOW_IT_WAS_MADE: Readonly<Record<string, string>> = { migrations: 't.name', sql_files: 't.name || t.checksum' };

/** Rows and a checksum of each table, whatever order the rows lie in; rows of partitions say which one they are in. */
export async function tableFingerprints(client: PgConnection): Promise<Record<string, string>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
    [BACKUP_SCHEMAS],
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const row = HOW_IT_WAS_MADE[name.split('.')[1] ?? ''] ?? 't.tableoid::regclass::text || t::text';
    const { rows } = await client.query<{ sum: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(hashtextextended(${row}, 0)::numeric), 0) AS sum FROM ${name} AS t`,
    );
    found[name] = rows[0]?.sum ?? '';
  }
  return found;
}

export async function sequenceValues(client: PgConnection): Promise<Record<string, string>> {
  const { rows: sequences } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name FROM pg_sequences
      WHERE schemaname = ANY($1) AND sequencename <> 'migrations_id_seq' ORDER BY 1`,
    [BACKUP_SCHEMAS],
  );
  const found: Record<string, string> = {};
  for (const { name } of sequences) {
    const { rows } = await client.query<{ state: string }>(
      `SELECT last_value || ' ' || is_called AS state FROM ${name}`,
    );
    found[name] = rows[0]?.state ?? '';
  }
  return found;
}
