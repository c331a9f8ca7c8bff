/** The entries of one rule set, sorted by the kind of lookup. */
import { type Cidr, hostCidr, parseCidr, parseIp } from '@gatehouse/net';
import type { RuleSetConfig } from '../../interfaces/config.js';
import { type DomainScope, SCOPE } from '../domain-table.js';
import { parseCondition } from '../rule/condition-text.js';
import { EMPTY_CONTEXT, createMatcher } from '../rule/create-matcher.js';
import { parseDomainPayload } from '../rule/domain-name.js';
import { parseCidrPayload } from '../rule/ip-cidr.js';
import { RuleError } from '../rule/rule-error.js';
import { type RuleCondition, isAddressRule, isLogicRule, isSetRule, wantsResolving } from '../rule/rule-type.js';
import { type DomainPattern, parseDomainEntry } from './parse-domain-entry.js';

/** The most warnings of one set; further ones are counted. */
const MAX_WARNINGS = 5;
const MAX_ENTRY = 2048;
/** The most names with `*` in the middle or at the end, since each is tried separately. */
const MAX_PATTERNS = 256;

export interface CompiledEntries {
  readonly config: RuleSetConfig;
  /** Names and their scopes side by side: an object for each of 100,000 would take more memory than the names. */
  readonly names: readonly string[];
  readonly scopes: readonly DomainScope[];
  /** The labels of names with scope `pattern`, by position. */
  readonly patterns: ReadonlyMap<number, readonly string[]>;
  /** Looked up with the target's address. */
  readonly destinations: readonly Cidr[];
  /** How many of these, and of `others`, stand before the first entry that asks for an address. */
  readonly beforeAsking: { readonly destinations: number; readonly others: number };
  /** Looked up with the client's address. */
  readonly sources: readonly Cidr[];
  /** All other conditions of a classical set. */
  readonly others: readonly RuleCondition[];
  /** What an address can change, in its order, if there is an AND, OR or NOT among it. */
  readonly ordered: readonly RuleCondition[] | null;
  /** An entry may cause a domain to be resolved. */
  readonly asks: boolean;
  readonly warnings: readonly string[];
}

/** Invalid entries are left out, with `warnings`. */
export function compileEntries(config: RuleSetConfig): CompiledEntries {
  const parts = new EntryParts(config);
  for (const entry of config.entries) parts.tryAdd(entry);
  return parts.finish();
}

/** What is wrong with an entry of a set, for users; null if it is valid. */
export function validateRuleSetEntry(behavior: RuleSetConfig['behavior'], entry: string): string | null {
  try {
    new EntryParts({ name: '', behavior, entries: [] }).add(entry.trim());
    return null;
  } catch (error) {
    if (error instanceof RuleError) return error.message;
    throw error;
  }
}

class EntryParts {
  readonly #config: RuleSetConfig;
  readonly #names: string[] = [];
  readonly #scopes: DomainScope[] = [];
  readonly #patterns = new Map<number, readonly string[]>();
  readonly #destinations: Cidr[] = [];
  readonly #sources: Cidr[] = [];
  readonly #others: RuleCondition[] = [];
  readonly #ordered: RuleCondition[] = [];
  readonly #problems: string[] = [];
  #beforeAsking: CompiledEntries['beforeAsking'] | null = null;
  #unreadable = 0;

  constructor(config: RuleSetConfig) {
    this.#config = config;
  }

  tryAdd(entry: string): void {
    try {
      this.add(entry.trim());
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      this.#unreadable++;
      if (this.#problems.length < MAX_WARNINGS) this.#problems.push(error.message);
    }
  }

  /** @throws RuleError */
  add(entry: string): void {
    if (entry.length > MAX_ENTRY) throw new RuleError('payload', `longer than ${MAX_ENTRY} characters`);
    if (this.#config.behavior === 'domain') this.#addDomain(parseDomainEntry(entry));
    else if (this.#config.behavior === 'ipcidr') this.#addPrefix(parsePrefix(entry));
    else this.#addClassical(entry);
  }

  finish(): CompiledEntries {
    const shown = this.#problems.map((problem) => `rule set ${this.#config.name}: ${problem}`);
    const more = this.#unreadable - shown.length;
    return {
      config: this.#config,
      names: this.#names,
      scopes: this.#scopes,
      patterns: this.#patterns,
      destinations: this.#destinations,
      sources: this.#sources,
      others: this.#others,
      ordered: this.#others.some(isLogicRule) ? this.#ordered : null,
      asks: this.#beforeAsking !== null,
      beforeAsking: this.#beforeAsking ?? { destinations: this.#destinations.length, others: this.#others.length },
      warnings: more > 0 ? [...shown, `rule set ${this.#config.name}: ${more} more entries cannot be read`] : shown,
    };
  }

  #addDomain({ domain, scope, labels }: DomainPattern): void {
    if (labels) {
      if (this.#patterns.size >= MAX_PATTERNS)
        throw new RuleError('payload', `more than ${MAX_PATTERNS} patterns with *`);
      this.#patterns.set(this.#names.length, labels);
    }
    this.#names.push(domain);
    this.#scopes.push(scope);
  }

  #addPrefix(cidr: Cidr): void {
    this.#destinations.push(cidr);
    this.#beforeAsking ??= { destinations: 0, others: 0 };
  }

  #addClassical(entry: string): void {
    const condition = parseCondition(entry);
    const { type, payload } = condition;
    if (type === 'DOMAIN') return this.#addDomain({ domain: parseDomainPayload(payload), scope: SCOPE.exact });
    if (type === 'DOMAIN-SUFFIX') {
      const domain = parseDomainPayload(payload.startsWith('.') ? payload.slice(1) : payload);
      return this.#addDomain({ domain, scope: SCOPE.suffix });
    }
    if (isSetRule(condition) || type === 'MATCH') {
      throw new RuleError('type', `${type} cannot stand in a rule set`);
    }
    if (wantsResolving(condition)) {
      this.#beforeAsking ??= { destinations: this.#destinations.length, others: this.#others.length };
    }
    if (isAddressRule(condition) || isLogicRule(condition)) this.#ordered.push(condition);
    if (type === 'IP-CIDR' || type === 'IP-CIDR6') {
      (condition.src ? this.#sources : this.#destinations).push(parseCidrPayload(payload));
    } else {
      if (createMatcher(condition, EMPTY_CONTEXT).missingSet)
        throw new RuleError('type', 'a rule set cannot name another');
      this.#others.push(condition);
    }
  }
}

/** Parses a prefix or a single address. @throws RuleError */
function parsePrefix(entry: string): Cidr {
  const cidr = parseCidr(entry);
  if (cidr) return cidr;
  const ip = parseIp(entry);
  if (ip) return hostCidr(ip);
  throw new RuleError('payload', `${JSON.stringify(entry.slice(0, 80))} is neither an address nor a prefix`);
}
