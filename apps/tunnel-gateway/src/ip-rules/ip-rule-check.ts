import { SYSTEM_ACTOR, type Actor } from '@gatehouse/auth';
import type { IpRuleCheck, IpRuleCheckLevel } from '@gatehouse/contracts';
import {
  readTarget,
  type AccessPoint,
  type IpExplanation,
  type IpRules,
  type LevelExplanation,
  type RequestFacts,
} from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { seesAll, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { ResourceOwners } from '../data/resource-owners.js';
import { fieldError } from '../wire/field-error.js';
import { RuleLists } from './rule-lists.js';
import { RuleDatabases } from './rule-databases.js';
import type { IpRuleCheckQuery } from './ip-rule.dto.js';
import { toIpRuleView } from './ip-rule.view.js';
import { compileRules } from '../common/legible-rules.js';
import { toRuleConfig } from './rule-config.js';
import { withRequests, type WholeRule } from './rule-requests.js';

/** The place that an address is checked for: the console, or as much of a visitor's resource as is known. */
type Place = 'console' | Partial<AccessPoint>;

/** Explains what the data plane decides about an address: the same rules, compiled by the same code. */
@Injectable()
export class IpRuleCheckService {
  private global: { revision: number; rules: WholeRule[] } | null = null;
  private compiled: IpRules | null = null;

  constructor(
    private readonly owned: OwnedRows,
    private readonly owners: ResourceOwners,
    private readonly databases: RuleDatabases,
    private readonly lists: RuleLists,
  ) {}

  /** @throws AppError NOT_FOUND for a resource that the actor may not see. */
  async check(query: IpRuleCheckQuery, actor: Actor): Promise<IpRuleCheck> {
    const place = await this.placeOf(query, actor);
    const asked = place === 'console' ? undefined : place.asked;
    const rules = await this.rulesOf(place);
    await this.lists.load(rules.map(({ rule }) => rule));
    const { address, allowed, levels } = this.explain(query.ip, place, rules);
    const { countryOf, asnOf } = this.databases.options;
    if (address === null) throw fieldError('ip', 'must be an address without a zone');
    // Global rules are only shown to administrators.
    const shown = new Map(rules.filter(({ rule }) => rule.scope !== 'global' || seesAll(actor)).map(byId));
    return {
      ip: address,
      allowed,
      country: countryOf?.(address) ?? null,
      asn: asnOf?.(address) ?? null,
      request: typeof asked === 'object' ? { method: asked.method, path: asked.target.forward } : null,
      levels: levels.map((level) => toLevel(level, shown)),
    };
  }

  private async placeOf(
    { resource_type: kind, resource_id: id, path, method }: IpRuleCheckQuery,
    actor: Actor,
  ): Promise<Place> {
    if (kind !== 'host' && (path !== undefined || method !== undefined)) {
      throw fieldError(path === undefined ? 'method' : 'path', 'only hosts have requests: resource_type must be host');
    }
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
    const resource = { kind, id };
    if (kind === 'tunnel') {
      const { clientId } = await this.owned.tunnels(actor).one(id);
      return { ...(await this.clientPlace(clientId, actor)), resource };
    }
    const { clientId, targetAddr } = await this.owned.hosts(actor).one(id);
    const asked = targetAddr.startsWith('tls:') ? 'unseen' : readAsked(path, method);
    return { ...(await this.clientPlace(clientId, actor)), resource, asked };
  }

  private async clientPlace(clientId: number, actor: Actor): Promise<Partial<AccessPoint>> {
    const { ownerUserId } = await this.owned.clients(actor).one(clientId);
    return { userId: ownerUserId, clientId };
  }

  /** The rules of the requested levels. There may be many global ones, so they are cached until a rule changes. */
  private async rulesOf(place: Place): Promise<WholeRule[]> {
    if (place === 'console') return this.read({ sql: `row.scope = 'console'` });
    const revision = await this.revision();
    if (this.global?.revision !== revision) {
      this.global = { revision, rules: await this.read({ sql: `row.scope = 'global'` }) };
    }
    return [...this.global.rules, ...(await this.read(ofLevels(place)))];
  }

  private async read(which: Condition): Promise<WholeRule[]> {
    return withRequests(this.owned.options, await this.owned.ipRules(SYSTEM_ACTOR).some([which]));
  }

  private async revision(): Promise<number> {
    const [row]: { revision: number }[] = await this.owned.options.query(
      'SELECT revision FROM tunnel_gateway_ops.config_revision',
    );
    return row?.revision ?? 0;
  }

  private explain(ip: string, place: Place, rules: readonly WholeRule[]): IpExplanation {
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

/** The request as the data plane reads it. @throws AppError */
function readAsked(path = '/', method = 'GET'): RequestFacts {
  const target = readTarget(path.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent));
  if (target === null) throw fieldError('path', 'is not the path of a request, or one that hosts refuse');
  return { method: method.trim().toUpperCase(), target };
}

function byId(whole: WholeRule): [number, WholeRule] {
  return [whole.rule.id, whole];
}

function toLevel(level: LevelExplanation, shown: ReadonlyMap<number, WholeRule>): IpRuleCheckLevel {
  const { scope, resourceId, outcome, rule, unresolved } = level;
  const row = rule && shown.get(rule.id);
  return { scope, resource_id: resourceId, outcome, rule: row ? toIpRuleView(row) : null, unresolved };
}
