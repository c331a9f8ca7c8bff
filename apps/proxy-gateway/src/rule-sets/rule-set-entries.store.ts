import type { SqlRunner } from '../traffic/log-partitions.js';
import { firstEntries, openEntries } from '../kernel-config/read-rule-set.js';

export async function writeEntries(sql: SqlRunner, ruleSetId: number, data: Uint8Array): Promise<void> {
  await sql.query(
    `INSERT INTO rule_set_entries (rule_set_id, data) VALUES ($1, $2)
     ON CONFLICT (rule_set_id) DO UPDATE SET data = excluded.data`,
    [ruleSetId, Buffer.from(data)],
  );
}

export async function deleteEntries(sql: SqlRunner, ruleSetId: number): Promise<void> {
  await sql.query('DELETE FROM rule_set_entries WHERE rule_set_id = $1', [ruleSetId]);
}

/** All entries, or the first `limit`. */
export async function readEntries(sql: SqlRunner, ruleSetId: number, limit?: number): Promise<string[]> {
  const [row] = (await sql.query('SELECT data FROM rule_set_entries WHERE rule_set_id = $1', [ruleSetId])) as {
    data: Buffer;
  }[];
  if (row === undefined) return [];
  return limit === undefined ? openEntries(row.data) : firstEntries(row.data, limit);
}
