import type { RuleConfig, RuleSetConfig } from '@gatehouse/proxy-kernel';
import { Injectable, Optional } from '@nestjs/common';
import { GeoLibrary } from '../geo/geo-library.js';
import { siteSets } from '../geo/site-sets.js';
import { setsNamedBy } from './set-states.js';
import type { SqlRunner } from '../traffic/log-partitions.js';
import { rememberDigest } from './entries-digest.js';
import { openEntries } from './read-rule-set.js';

interface SetRow {
  id: number;
  name: string;
  behavior: RuleSetConfig['behavior'];
  sha256: string;
}

/** The rule sets of a kernel configuration: those that rules name, reread only when they change. */
@Injectable()
export class RuleSetSource {
  /** Entries by digest, for the sets of the last load only. */
  private loaded: ReadonlyMap<string, readonly string[]> = new Map();
  private named: { rules: readonly RuleConfig[]; names: readonly string[] } = { rules: [], names: [] };

  constructor(@Optional() private readonly geo?: GeoLibrary) {}

  /** @param rules a list that never changes. */
  async load(sql: SqlRunner, rules: readonly RuleConfig[]): Promise<RuleSetConfig[]> {
    if (this.named.rules !== rules) this.named = { rules, names: [...new Set(rules.flatMap(setsNamedBy))] };
    const rows = (await sql.query(
      `SELECT id, name, behavior, entries_sha256 AS sha256 FROM rule_sets
       WHERE enabled AND entry_count > 0 AND name = ANY ($1::text[]) ORDER BY id`,
      [this.named.names],
    )) as SetRow[];
    const loaded = new Map<string, readonly string[]>();
    for (const { id, sha256 } of rows) {
      if (!loaded.has(sha256)) loaded.set(sha256, this.loaded.get(sha256) ?? (await read(sql, id, sha256)));
    }
    this.loaded = loaded;
    const sets = rows.map(({ name, behavior, sha256 }) => ({ name, behavior, entries: loaded.get(sha256) ?? [] }));
    return [...sets, ...siteSets(rules, (code) => this.geo?.site(code) ?? null)];
  }
}

async function read(sql: SqlRunner, id: number, sha256: string): Promise<readonly string[]> {
  const [row] = (await sql.query('SELECT data FROM rule_set_entries WHERE rule_set_id = $1', [id])) as {
    data: Buffer;
  }[];
  const entries = row === undefined ? [] : await openEntries(row.data);
  return rememberDigest(entries, sha256);
}
