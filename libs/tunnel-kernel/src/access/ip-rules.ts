import { formatIp, parseIp, type IpAddress } from '@gatehouse/net';
import type { IpRuleConfig, IpRuleScope } from '../config.js';
import type { ResourceRef } from '../resource.js';
import { AskedRequest, type Asked } from './request-condition.js';
import { RuleLevel, type VisitFacts } from './rule-level.js';

/** ISO 3166-1 alpha-2 in upper case, null for an address without a country, undefined while there is no database. */
export type CountryLookup = (address: string) => string | null | undefined;

/** Number of an autonomous system, null for an address of none, undefined while there is no database. */
export type AsnLookup = (address: string) => number | null | undefined;

/** Whether a list has the address; undefined: there is no such list, or it was never loaded. */
export type ListLookup = (list: string, address: IpAddress) => boolean | undefined;

export interface IpRuleOptions {
  /** Absent: there is no database, and country rules match nothing. */
  countryOf?: CountryLookup | undefined;
  /** Absent: there is no database, and rules about autonomous systems match nothing. */
  asnOf?: AsnLookup | undefined;
  /** Absent: there are no lists, and rules about them match nothing. */
  inList?: ListLookup | undefined;
  /** Whether rules that deny countries, autonomous systems or lists deny everybody without their database or list. */
  geoStrict?: boolean | undefined;
}

/** What a visitor connects to. Explanations may name only a part of it. */
export interface AccessPoint {
  userId: number;
  clientId: number;
  resource: ResourceRef;
  /** Absent: connections without requests, which rules about requests do not concern. */
  asked?: Asked;
}

export interface IpDenial {
  scope: IpRuleScope;
  resourceId: number;
  /** Null: the level has rules that allow, and none of them matched. */
  ruleId: number | null;
}

export type LevelOutcome =
  /** A rule allows the address: the next level is evaluated. */
  | 'allowed'
  /** A rule denies the address. */
  | 'denied'
  /** No rule matches, and the level has rules that allow. */
  | 'not_listed'
  /** No rule matches. */
  | 'no_match'
  /** An earlier level refused. */
  | 'not_reached';

export interface LevelExplanation {
  scope: IpRuleScope;
  resourceId: number;
  outcome: LevelOutcome;
  rule: IpRuleConfig | null;
  /** The level has rules about countries, autonomous systems or lists, but their database or list is not there. */
  unresolved: boolean;
}

export interface IpExplanation {
  /** Canonical text; null if it is not an address. */
  address: string | null;
  allowed: boolean;
  levels: LevelExplanation[];
}

type PlacedLevel = readonly [scope: IpRuleScope, resourceId: number, level: RuleLevel | undefined];

/**
 * All address rules, compiled: the levels (global, user, client, tunnel or host) are evaluated in turn, and any of them
 * may refuse. Immutable.
 */
export class IpRules {
  private readonly options: IpRuleOptions;
  private readonly source: readonly IpRuleConfig[];
  private readonly levels: Readonly<Record<IpRuleScope, ReadonlyMap<number, RuleLevel>>>;

  /** Levels that are the same in `previous` are reused. @throws IpPatternError naming the rule. */
  constructor(rules: readonly IpRuleConfig[], options: IpRuleOptions = {}, previous?: IpRules) {
    this.options = options;
    this.source = rules;
    this.levels = previous?.source === rules ? previous.levels : compile(rules, previous?.levels);
  }

  /** Whether the rules are the same as in `other`. */
  isSame(other: IpRules): boolean {
    return scopes.every((scope) => {
      const [own, others] = [this.levels[scope], other.levels[scope]];
      return own.size === others.size && [...own].every(([id, level]) => others.get(id) === level);
    });
  }

  /** Null: allowed. A value that is not an address is refused by any level with rules. */
  decide(address: string, { userId, clientId, resource: { kind, id }, asked }: AccessPoint): IpDenial | null {
    const { levels } = this;
    const global = levels.global.get(0);
    const user = levels.user.get(userId);
    const client = levels.client.get(clientId);
    const resource = levels[kind].get(id);
    if (!global && !user && !client && !resource) return null;
    const ip = parseIp(address);
    const facts = new LookedUp(ip, this.options, asked);
    return (
      this.ask('global', 0, global, ip, facts) ??
      this.ask('user', userId, user, ip, facts) ??
      this.ask('client', clientId, client, ip, facts) ??
      this.ask(kind, id, resource, ip, facts)
    );
  }

  /** As `decide` for the console, whose level stands alone. */
  decideConsole(address: string): IpDenial | null {
    const ip = parseIp(address);
    return this.ask('console', 0, this.levels.console.get(0), ip, new LookedUp(ip, this.options, undefined));
  }

  /** The decision level by level; levels that `at` does not name are left out. */
  explain(address: string, { userId, clientId, resource, asked }: Partial<AccessPoint>): IpExplanation {
    const { global, user, client } = this.levels;
    const levels: PlacedLevel[] = [['global', 0, global.get(0)]];
    if (userId !== undefined) levels.push(['user', userId, user.get(userId)]);
    if (clientId !== undefined) levels.push(['client', clientId, client.get(clientId)]);
    if (resource) levels.push([resource.kind, resource.id, this.levels[resource.kind].get(resource.id)]);
    return this.explainLevels(address, levels, asked);
  }

  explainConsole(address: string): IpExplanation {
    return this.explainLevels(address, [['console', 0, this.levels.console.get(0)]], undefined);
  }

  private explainLevels(address: string, placed: readonly PlacedLevel[], asked: Asked): IpExplanation {
    const ip = parseIp(address);
    const facts = new LookedUp(ip, this.options, asked);
    const { geoStrict = false } = this.options;
    let allowed = true;
    const levels = placed.map(([scope, resourceId, level]): LevelExplanation => {
      if (!allowed) return { scope, resourceId, outcome: 'not_reached', rule: null, unresolved: false };
      allowed = this.ask(scope, resourceId, level, ip, facts) === null;
      const rule = (ip && level?.find(ip, facts, geoStrict)) ?? null;
      const unresolved = level?.lacks(facts) ?? false;
      return { scope, resourceId, outcome: outcomeOf(rule, allowed), rule, unresolved };
    });
    return { address: ip && formatIp(ip), allowed, levels };
  }

  private ask(
    scope: IpRuleScope,
    resourceId: number,
    level: RuleLevel | undefined,
    ip: IpAddress | null,
    facts: VisitFacts,
  ): IpDenial | null {
    if (!level) return null;
    const rule = ip && level.find(ip, facts, this.options.geoStrict ?? false);
    if (rule ? rule.type === 'allow' : ip && !level.allowsOnly) return null;
    return { scope, resourceId, ruleId: rule?.id ?? null };
  }
}

/** Looks each fact up at most once, and only when a level needs it. */
class LookedUp implements VisitFacts {
  private readonly ip: IpAddress | null;
  private readonly options: IpRuleOptions;
  private readonly request: Asked;
  private foundCountry: { value: string | null | undefined } | null = null;
  private foundAsn: { value: number | null | undefined } | null = null;
  private foundLists: Map<string, { value: boolean | undefined }> | null = null;
  private readRequest: AskedRequest | null = null;

  /** `ip`: null for what is not an address; nothing is asked about it then. */
  constructor(ip: IpAddress | null, options: IpRuleOptions, request: Asked) {
    this.ip = ip;
    this.options = options;
    this.request = request;
  }

  country(): string | null | undefined {
    this.foundCountry ??= { value: this.ip ? this.options.countryOf?.(formatIp(this.ip)) : undefined };
    return this.foundCountry.value;
  }

  asn(): number | null | undefined {
    this.foundAsn ??= { value: this.ip ? this.options.asnOf?.(formatIp(this.ip)) : undefined };
    return this.foundAsn.value;
  }

  inList(list: string): boolean | undefined {
    const known = this.foundLists?.get(list);
    if (known !== undefined) return known.value;
    const value = this.ip ? this.options.inList?.(list, this.ip) : undefined;
    (this.foundLists ??= new Map()).set(list, { value });
    return value;
  }

  asked(): AskedRequest | 'own' | 'unseen' | undefined {
    return typeof this.request === 'object' ? (this.readRequest ??= new AskedRequest(this.request)) : this.request;
  }
}

const scopes: readonly IpRuleScope[] = ['global', 'console', 'user', 'client', 'tunnel', 'host'];

function outcomeOf(rule: IpRuleConfig | null, allowed: boolean): LevelOutcome {
  if (rule) return allowed ? 'allowed' : 'denied';
  return allowed ? 'no_match' : 'not_listed';
}

function compile(rules: readonly IpRuleConfig[], previous?: IpRules['levels']): IpRules['levels'] {
  const groups = Object.fromEntries(scopes.map((scope) => [scope, new Map<number, IpRuleConfig[]>()])) as Record<
    IpRuleScope,
    Map<number, IpRuleConfig[]>
  >;
  for (const rule of rules) {
    const group = groups[rule.scope];
    const own = group.get(rule.resourceId);
    if (own) own.push(rule);
    else group.set(rule.resourceId, [rule]);
  }
  const compileScope = (scope: IpRuleScope): ReadonlyMap<number, RuleLevel> =>
    new Map(
      [...groups[scope]].map(([id, own]) => {
        const known = previous?.[scope].get(id);
        return [id, known && sameRules(known.rules, own) ? known : new RuleLevel(own)];
      }),
    );
  return Object.fromEntries(scopes.map((scope) => [scope, compileScope(scope)])) as IpRules['levels'];
}

function sameRules(a: readonly IpRuleConfig[], b: readonly IpRuleConfig[]): boolean {
  return a.length === b.length && a.every((rule, index) => sameRule(rule, b[index]));
}

function sameRule(a: IpRuleConfig, b: IpRuleConfig | undefined): boolean {
  return (
    a === b ||
    (a.id === b?.id &&
      a.type === b.type &&
      a.kind === b.kind &&
      a.pattern === b.pattern &&
      a.priority === b.priority &&
      sameTexts(a.paths, b.paths) &&
      sameTexts(a.methods, b.methods))
  );
}

type Texts = readonly string[] | null | undefined;

function sameTexts(a: Texts, b: Texts): boolean {
  if (!a || !b) return (a ?? null) === (b ?? null);
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
