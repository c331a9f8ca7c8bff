import type { RuleSource } from '@gatehouse/contracts';
import type { RuleConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { namesSets } from './set-states.js';
import type { SqlRunner } from '../traffic/log-partitions.js';

/** Earlier sources win; within one the lower priority does, and the subscription that was there first. */
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

/** The enabled rules of all sources in the order in which they are tried. Never altered: another revision is another list. */
export interface MergedRules {
  revision: number;
  rules: readonly RuleConfig[];
  /** Position by id. */
  positions: ReadonlyMap<number, number>;
  /** Every target that any of them has. */
  targets: readonly string[];
  /** Those that need rule sets or lists of sites, each condition once. */
  naming: readonly RuleConfig[];
}

/** Reads the list that the kernel is given, once a revision. */
@Injectable()
export class RuleList {
  private latest: MergedRules | null = null;

  constructor(private readonly dataSource: DataSource) {}

  /** @param sql inside a transaction that sees one state of the database, so that list and revision belong together. */
  async load(sql: SqlRunner): Promise<MergedRules> {
    const [row] = (await sql.query('SELECT revision FROM rule_revision')) as { revision: number }[];
    const revision = row?.revision ?? 0;
    if (this.latest?.revision === revision) return this.latest;
    const rows = (await sql.query(
      `SELECT id, source, type, payload, target, no_resolve AS "noResolve", src FROM rules WHERE enabled
       ORDER BY array_position($1::text[], source), subscription_id, priority, id`,
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
