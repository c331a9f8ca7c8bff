import { SYSTEM_ACTOR, type Actor } from '@gatehouse/auth';
import type { IpRuleCheck, IpRuleCheckLevel } from '@gatehouse/contracts';
import type { AccessPoint, IpExplanation, IpRules, LevelExplanation } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { seesAll, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { ResourceOwners } from '../data/resource-owners.js';
import { fieldError } from '../wire/field-error.js';
import { RuleDatabases } from './rule-databases.js';
import type { IpRuleCheckQuery } from './ip-rule.dto.js';
import type { IpRule } from '../data/ip-rule.entity.js';
import { toIpRuleView } from './ip-rule.view.js';
import { compileRules } from '../common/legible-rules.js';
import { toRuleConfig } from './rule-config.js';

/** The place that an address is checked for: the console, or as much of a visitor's resource as is known. */
type Place = 'console' | Partial<AccessPoint>;

/** Explains what the data plane decides about an address: the same rules, compiled by the same code. */
@Injectable()
export class IpRuleCheckService {
  private global: { revision: number; rules: IpRule[] } | null = null;
  private compiled: IpRules | null = null;

  constructor(
    private readonly owned: OwnedRows,
    private readonly owners: ResourceOwners,
    private readonly databases: RuleDatabases,
  ) {}

  /** @throws AppError NOT_FOUND for a resource that the actor may not see. */
  async check(query: IpRuleCheckQuery, actor: Actor): Promise<IpRuleCheck> {
    const place = await this.placeOf(query, actor);
    const rules = await this.rulesOf(place);
    const { address, allowed, levels } = this.explain(query.ip, place, rules);
    const { countryOf, asnOf } = this.databases.options;
    if (address === null) throw fieldError('ip', 'must be an address without a zone');
    // Global rules are only shown to administrators.
    const shown = new Map(rules.filter(({ scope }) => scope !== 'global' || seesAll(actor)).map(byId));
    return {
      ip: address,
      allowed,
      country: countryOf?.(address) ?? null,
      asn: asnOf?.(address) ?? null,
      levels: levels.map((level) => toLevel(level, shown)),
    };
  }

  private async placeOf({ resource_type: kind, resource_id: id }: IpRuleCheckQuery, actor: Actor): Promise<Place> {
    if (kind === 'console') {
      await this.owners.seen(actor, 'global', id);
      return 'console';
    }
    // Everybody may check the global level.
    if (kind === 'global' && id === 0) return {};
    await this.owners.seen(actor, kind, id);
    if (kind === 'user') return { userId: id };
    if (kind === 'client') return this.clientPlace(id, actor);
    if (kind === 'global') return {};
    const table = kind === 'tunnel' ? this.owned.tunnels(actor) : this.owned.hosts(actor);
    const { clientId } = await table.one(id);
    return { ...(await this.clientPlace(clientId, actor)), resource: { kind, id } };
  }

  private async clientPlace(clientId: number, actor: Actor): Promise<Partial<AccessPoint>> {
    const { ownerUserId } = await this.owned.clients(actor).one(clientId);
    return { userId: ownerUserId, clientId };
  }

  /** The rules of the requested levels. There may be many global ones, so they are cached until a rule changes. */
  private async rulesOf(place: Place): Promise<IpRule[]> {
    const rules = this.owned.ipRules(SYSTEM_ACTOR);
    if (place === 'console') return rules.some([{ sql: `row.scope = 'console'` }]);
    const revision = await this.revision();
    if (this.global?.revision !== revision) {
      this.global = { revision, rules: await rules.some([{ sql: `row.scope = 'global'` }]) };
    }
    return [...this.global.rules, ...(await rules.some([ofLevels(place)]))];
  }

  private async revision(): Promise<number> {
    const [row]: { revision: number }[] = await this.owned.options.query(
      'SELECT revision FROM tunnel_gateway_ops.config_revision',
    );
    return row?.revision ?? 0;
  }

  private explain(ip: string, place: Place, rules: readonly IpRule[]): IpExplanation {
    // Unchanged levels are not compiled again.
    this.compiled = compileRules(rules.map(toRuleConfig), this.databases.options, this.compiled ?? undefined);
    return place === 'console' ? this.compiled.explainConsole(ip) : this.compiled.explain(ip, place);
  }
}

function ofLevels({ userId = 0, clientId = 0, resource }: Partial<AccessPoint>): Condition {
  return {
    sql: `(row.scope = 'user' AND row.resource_id = :userId)
      OR (row.scope = 'client' AND row.resource_id = :clientId)
      OR (row.scope = :kind AND row.resource_id = :resourceId)`,
    parameters: { userId, clientId, kind: resource?.kind ?? 'none', resourceId: resource?.id ?? 0 },
  };
}

function byId(rule: IpRule): [number, IpRule] {
  return [rule.id, rule];
}

function toLevel(level: LevelExplanation, shown: ReadonlyMap<number, IpRule>): IpRuleCheckLevel {
  const { scope, resourceId, outcome, rule, unresolved } = level;
  const row = rule && shown.get(rule.id);
  return { scope, resource_id: resourceId, outcome, rule: row ? toIpRuleView(row) : null, unresolved };
}
