import type { IpAddress } from '@gatehouse/net';
import type { IpRuleConfig } from '../config.js';
import { IpPatternError, parseIpPattern, type IpMatcher } from './ip-pattern.js';
import { RequestCondition, type AskedRequest } from './request-condition.js';
import { RuleTable, type AddressFacts, type RankedMatcher } from './rule-table.js';

/** What rules decide about: an address, and a request where there is one. */
export interface VisitFacts extends AddressFacts {
  asked(): AskedRequest | 'own' | 'unseen' | undefined;
}

/** One pattern of one rule, before ranking. */
interface Candidate {
  rule: IpRuleConfig;
  /** For countries, autonomous systems and lists: less specific than any prefix. */
  prefix: number;
  matcher: IpMatcher;
}

interface ConditionalTable {
  condition: RequestCondition;
  table: RuleTable;
}

/**
 * The rules of one level, compiled. Precedence: priority, deny before allow, longer prefix, id. Rules with the same
 * condition about requests share a table, so a level without conditions is one table. Immutable.
 */
export class RuleLevel {
  /** The configured rules. */
  readonly rules: readonly IpRuleConfig[];
  /** The level has a rule that allows, so everybody else is refused. */
  readonly allowsOnly: boolean;
  private readonly ranked: IpRuleConfig[] = [];
  private readonly always: RuleTable;
  private readonly conditional: readonly ConditionalTable[];

  /** @throws IpPatternError naming the rule. */
  constructor(rules: readonly IpRuleConfig[]) {
    this.rules = rules;
    this.allowsOnly = rules.some(({ type }) => type === 'allow');
    const groups = new Map<string, { rule: IpRuleConfig; matchers: RankedMatcher[] }>();
    for (const { rule, matcher } of rules.flatMap(candidatesOf).sort(byRank)) {
      const key = conditionKey(rule);
      const group = groups.get(key) ?? { rule, matchers: [] };
      groups.set(key, group);
      group.matchers.push({ matcher, rank: this.ranked.push(rule) - 1, denies: rule.type === 'deny' });
    }
    this.always = new RuleTable(groups.get(UNCONDITIONAL)?.matchers ?? []);
    groups.delete(UNCONDITIONAL);
    this.conditional = [...groups.values()].map(({ rule, matchers }) => ({
      condition: named(rule, () => new RequestCondition(rule.type, rule)),
      table: new RuleTable(matchers),
    }));
  }

  /** The matching rule; null: none. `strict`: see `RuleTable.find`. */
  find(address: IpAddress, facts: VisitFacts, strict: boolean): IpRuleConfig | null {
    let first = this.always.find(address, facts, strict);
    for (const { condition, table } of this.conditional) {
      if (table.best >= first || !condition.holds(facts.asked())) continue;
      first = Math.min(first, table.find(address, facts, strict));
    }
    return this.ranked[first] ?? null;
  }

  /** Whether a rule needs a database or a list that is not there. */
  lacks(facts: AddressFacts): boolean {
    return this.always.lacks(facts) || this.conditional.some(({ table }) => table.lacks(facts));
  }
}

const UNCONDITIONAL = '';

function conditionKey({ type, paths = null, methods = null }: IpRuleConfig): string {
  return paths === null && methods === null ? UNCONDITIONAL : JSON.stringify([type, paths, methods]);
}

function candidatesOf(rule: IpRuleConfig): Candidate[] {
  const { matcher } = named(rule, () => parseIpPattern(rule.kind, rule.pattern));
  if (!('cidrs' in matcher)) return [{ rule, prefix: -1, matcher }];
  return matcher.cidrs.map((cidr) => ({ rule, prefix: cidr.prefix, matcher: { cidrs: [cidr] } }));
}

function named<T>({ id }: IpRuleConfig, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IpPatternError)) throw error;
    throw new IpPatternError(`rule ${id}: ${error.message}`);
  }
}

function byRank(a: Candidate, b: Candidate): number {
  const order = a.rule.priority - b.rule.priority || typeOrder(a.rule) - typeOrder(b.rule);
  return order || b.prefix - a.prefix || a.rule.id - b.rule.id;
}

function typeOrder({ type }: IpRuleConfig): number {
  return type === 'deny' ? 0 : 1;
}
