import type { RuleSource } from '@gatehouse/contracts';
import type { RuleConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { namesSets } from './set-states.js';
import type { SqlRunner } from '../traffic/log-partitions.js';

/**
 * Earlier sources win; within a source the lower priority wins, then the older subscription. Rules made here that stand behind the
 * profile come before its closing MATCH, behind which none would be reached.
 */
const SOURCE_ORDER: readonly RuleSource[] = ['system', 'manual', 'ruleset', 'subscription'];

interface RuleRow {
  id: number;
  source: RuleSource;
  type: RuleConfig['type'];
  payload: string;
  target: string;
  noResolve: boolean;
  src: boolean;
}

/**
 * The enabled rules in the order of their evaluation, of all sources except profiles that are not in force. Never changed in place: each revision is a new
 * list.
 */
export interface MergedRules {
  revision: number;
  rules: readonly RuleConfig[];
  /** Position by rule id. */
  positions: ReadonlyMap<number, number>;
  /** The targets that the rules name. */
  targets: readonly string[];
  /** Rules that need rule sets or lists of sites, each condition once. */
  naming: readonly RuleConfig[];
}

/** Reads the rules for the kernel, once for each revision. */
@Injectable()
export class RuleList {
  private latest: MergedRules | null = null;

  constructor(private readonly dataSource: DataSource) {}

  /** @param sql a transaction with one snapshot, so that list and revision belong together. */
  async load(sql: SqlRunner): Promise<MergedRules> {
    const [row] = (await sql.query('SELECT revision FROM rule_revision')) as { revision: number }[];
    const revision = row?.revision ?? 0;
    if (this.latest?.revision === revision) return this.latest;
    const rows = (await sql.query(
      `WITH active AS (SELECT active_profile AS id FROM outbound_policy),
       closing AS (
         SELECT priority, id FROM rules
         WHERE enabled AND source = 'subscription' AND type = 'MATCH' AND subscription_id = (SELECT id FROM active)
         ORDER BY priority, id LIMIT 1)
       SELECT rules.id, source, type, payload, target, no_resolve AS "noResolve", src
       FROM rules LEFT JOIN closing ON source = 'subscription' AND (rules.priority, rules.id) >= (closing.priority, closing.id)
       WHERE enabled AND (source <> 'subscription' OR subscription_id = (SELECT id FROM active))
       ORDER BY CASE WHEN closing.id IS NOT NULL THEN 2 WHEN source = 'manual' AND after_profile THEN 1 ELSE 0 END,
         array_position($1::text[], source), subscription_id, rules.priority, rules.id`,
      [SOURCE_ORDER],
    )) as RuleRow[];
    this.latest = toMerged(revision, rows);
    return this.latest;
  }

  current(): Promise<MergedRules> {
    return this.dataSource.transaction('REPEATABLE READ', (tx) => this.load(tx));
  }
}

function toMerged(revision: number, rows: readonly RuleRow[]): MergedRules {
  return {
    revision,
    rules: rows,
    positions: new Map(rows.map(({ id }, index) => [id, index])),
    targets: [...new Set(rows.map(({ target }) => target))],
    naming: [...new Map(rows.filter(namesSets).map((row) => [`${row.type},${row.payload}`, row])).values()],
  };
}
