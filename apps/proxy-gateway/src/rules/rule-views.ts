import type { RuleView } from '@gatehouse/contracts';
import { Injectable, Optional } from '@nestjs/common';
import { GeoLibrary } from '../geo/geo-library.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import type { SqlRunner } from '../traffic/log-partitions.js';
import { describeTargets } from './rule-targets.js';
import type { MergedRules } from '../kernel-config/rule-list.js';
import type { Rule } from '../data/rule.entity.js';
import { toRuleView, type RuleSurroundings } from './rule.view.js';
import { readSetStates } from '../kernel-config/set-states.js';

/** Converts rows to views, looking up what the rows lack for all of them at once. */
@Injectable()
export class RuleViews {
  constructor(
    private readonly kernel: KernelService,
    @Optional() private readonly geo?: GeoLibrary,
  ) {}

  async surroundings(sql: SqlRunner, targets: readonly string[]): Promise<RuleSurroundings> {
    const [policy] = (await sql.query('SELECT active_profile AS id FROM outbound_policy')) as { id: number | null }[];
    return {
      activeProfile: policy?.id ?? null,
      targets: await describeTargets(sql, targets, this.dialledNodes()),
      sets: await readSetStates(sql),
      site: (code) => this.geo?.site(code) ?? null,
    };
  }

  async of(sql: SqlRunner, rows: readonly Rule[], { positions }: MergedRules): Promise<RuleView[]> {
    const surroundings = await this.surroundings(sql, [...new Set(rows.map(({ target }) => target))]);
    return rows.map((row) => toRuleView(row, surroundings, positions.get(row.id) ?? null));
  }

  /** Null while unknown. */
  private dialledNodes(): ReadonlySet<string> | null {
    const { config } = this.kernel;
    return config === null ? null : new Set(config.outbounds.map(({ tag }) => tag));
  }
}
