import { bilingual, type Bilingual } from '@gatehouse/i18n';
import { createDataSource, quoteIdentifier } from '../data-source.js';
import { pendingMigrations } from '../migrations.js';
import { withClient } from '../pg-client.js';
import type { CheckQuery, Invariant, StoredData } from './stored-data.js';

const MIGRATED = bilingual('every migration has run', '所有迁移均已执行');

export interface CheckedInvariant {
  service: string;
  name: Bilingual;
  /** Number of violations. */
  broken: number;
}

/** Checks all invariants for the data of a migrated database; changes nothing. */
export async function checkInvariants(url: string, stored: readonly StoredData[]): Promise<CheckedInvariant[]> {
  const found: CheckedInvariant[] = [];
  for (const data of stored) {
    const config = data.database(url, 'gatehouse check');
    const pending = await pendingMigrations(createDataSource(config));
    found.push({ service: data.service, name: MIGRATED, broken: pending.length });
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

/** A statement in both languages; `sql` returns a row for each violation. */
export function noRows(english: string, chinese: string, sql: string): Invariant {
  return {
    name: bilingual(english, chinese),
    countBroken: async (query) => {
      const [row] = await query<{ count: string }>(`SELECT count(*)::text AS count FROM (${sql}) AS broken`);
      return Number(row?.count ?? 0);
    },
  };
}
