import { createDataSource, quoteIdentifier } from '../data-source.js';
import { pendingMigrations } from '../migrations.js';
import { withClient } from '../pg-client.js';
import type { CheckQuery, Invariant, StoredData } from './stored-data.js';

export interface CheckedInvariant {
  service: string;
  name: string;
  /** Number of violations. */
  broken: number;
}

/** Checks all invariants for the data of a migrated database; changes nothing. */
export async function checkInvariants(url: string, stored: readonly StoredData[]): Promise<CheckedInvariant[]> {
  const found: CheckedInvariant[] = [];
  for (const data of stored) {
    const config = data.database(url, 'gatehouse check');
    const pending = await pendingMigrations(createDataSource(config));
    found.push({ service: data.service, name: 'every migration has run', broken: pending.length });
    await withClient(url, async (client) => {
      const path = [config.schema, ...(config.searchPath ?? [])].map(quoteIdentifier).join(', ');
      await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL search_path = ${path}`);
      const query: CheckQuery = async <Row>(sql: string, parameters?: unknown[]) =>
        (await client.query(sql, parameters)).rows as Row[];
      for (const { name, countBroken } of data.invariants) {
        found.push({ service: data.service, name, broken: await countBroken(query) });
      }
    });
  }
  return found;
}

/** `sql` returns a row for each violation. */
export function noRows(name: string, sql: string): Invariant {
  return {
    name,
    countBroken: async (query) => {
      const [row] = await query<{ count: string }>(`SELECT count(*)::text AS count FROM (${sql}) AS broken`);
      return Number(row?.count ?? 0);
    },
  };
}
