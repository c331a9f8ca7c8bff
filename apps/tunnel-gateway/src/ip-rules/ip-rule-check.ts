import { SYSTEM_ACTOR, type Actor } from '@gatehouse/auth';
import type { IpRuleCheck, IpRuleCheckLevel } from '@gatehouse/contracts';
import { IpRules, type AccessPoint, type IpExplanation, type LevelExplanation } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { isAdministrator, OwnedRows } from '../ownership/owned-rows.js';
import type { Condition } from '../ownership/owned-table.js';
import { ResourceOwners } from '../ownership/resource-owners.js';
import { fieldError } from '../wire/field-error.js';
import { Countries } from './countries.js';
import type { IpRuleCheckQuery } from './ip-rule.dto.js';
import type { IpRule } from './ip-rule.entity.js';
import { toIpRuleView } from './ip-rule.view.js';

/** Where an address is asked about: at the console, or as a visitor of as much as is said. */
type Place = 'console' | Partial<AccessPoint>;

/** Says what the data plane decides about an address, and why: the same rules, compiled by the same code. */
@Injectable()
export class IpRuleCheckService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly owners: ResourceOwners,
    private readonly countries: Countries,
  ) {}

  /** @throws AppError NOT_FOUND for what is not the actor's. */
  async check(query: IpRuleCheckQuery, actor: Actor): Promise<IpRuleCheck> {
    const place = await this.placeOf(query, actor);
    const rules = await this.owned.ipRules(SYSTEM_ACTOR).some([rulesOf(place)]);
    const { address, allowed, levels } = this.explain(query.ip, place, rules);
    if (address === null) throw fieldError('ip', 'must be an address without a zone');
    // What administrators rule for everybody is theirs to see.
    const shown = new Map(rules.filter(({ scope }) => scope !== 'global' || isAdministrator(actor)).map(byId));
    return {
      ip: address,
      allowed,
      country: this.countries.countryOf(address) ?? null,
      levels: levels.map((level) => toLevel(level, shown)),
    };
  }

  private async placeOf({ resource_type: kind, resource_id: id }: IpRuleCheckQuery, actor: Actor): Promise<Place> {
    if (kind === 'console') {
      await this.owners.seen(actor, 'global', id);
      return 'console';
    }
    // Everybody may ask what everybody meets first.
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

  private explain(ip: string, place: Place, rules: readonly IpRule[]): IpExplanation {
    const { countryOf, strict: geoStrict } = this.countries;
    const config = rules.map(({ id, scope, resourceId, type, patternKind: kind, pattern, priority }) => {
      return { id, scope, resourceId: resourceId ?? 0, type, kind, pattern, priority: priority ?? 0 };
    });
    const compiled = new IpRules(config, { countryOf, geoStrict });
    return place === 'console' ? compiled.explainConsole(ip) : compiled.explain(ip, place);
  }
}

/** Of the levels that are asked. */
function rulesOf(place: Place): Condition {
  if (place === 'console') return { sql: `row.scope = 'console'` };
  const { userId = 0, clientId = 0, resource } = place;
  return {
    sql: `row.scope = 'global' OR (row.scope = 'user' AND row.resource_id = :userId)
      OR (row.scope = 'client' AND row.resource_id = :clientId)
      OR (row.scope = :kind AND row.resource_id = :resourceId)`,
    parameters: { userId, clientId, kind: resource?.kind ?? 'global', resourceId: resource?.id ?? 0 },
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
