/**
 * All rule sets of a configuration in one domain table and two address tables, whose values are the numbers of the
 * sets. The rules that name the sets are not part of it, so every generation with the same sets can share it.
 */
import type { RuleSetConfig } from '../../interfaces/config.js';
import { KernelConfigError } from '../../interfaces/kernel.js';
import { AddressTable } from '../address-table.js';
import { DomainTable } from '../domain-table.js';
import type { PrefixEntry } from '../prefix-table.js';
import { type CompiledEntries, compileEntries } from './compile-entries.js';
import type { RuleSetHandle, RuleSetLookup } from '../rule/matcher-context.js';

export interface CompiledRuleSets extends RuleSetLookup {
  readonly tables: RuleSetTables;
  /** Warnings of a few unreadable entries of each set. */
  readonly warnings: readonly string[];
}

export interface RuleSetTables {
  readonly domains: DomainTable;
  readonly destinations: AddressTable;
  readonly sources: AddressTable;
}

const ALWAYS = (): boolean => true;

/**
 * Compiles rule sets. Those of `previous` with the same entries are reused, or all of it if every set is the same.
 * @throws KernelConfigError for a duplicate name.
 */
export function compileRuleSets(
  configs: readonly RuleSetConfig[],
  previous: CompiledRuleSets | null = null,
): CompiledRuleSets {
  const before = previous instanceof RuleSets ? previous : null;
  const names = new Set<string>();
  for (const [i, { name }] of configs.entries()) {
    if (names.has(name)) throw new KernelConfigError(`ruleSets[${i}].name`, `${name} is used twice`);
    names.add(name);
  }
  const sets = configs.map((config) => before?.takeOver(config) ?? compileEntries(config));
  const same = before?.sets.length === sets.length && sets.every((set, i) => set === before.sets[i]);
  return same && before ? before : new RuleSets(sets);
}

class RuleSets implements CompiledRuleSets {
  readonly sets: readonly CompiledEntries[];
  readonly tables: RuleSetTables;
  readonly warnings: readonly string[];
  readonly #handles = new Map<string, RuleSetHandle>();

  constructor(sets: readonly CompiledEntries[]) {
    this.sets = sets;
    this.warnings = sets.flatMap((set) => set.warnings);
    this.tables = {
      domains: new DomainTable(sets.flatMap(domainEntries)),
      destinations: new AddressTable(sets.flatMap((set, i) => prefixEntries(set.destinations, i))),
      sources: new AddressTable(sets.flatMap((set, i) => prefixEntries(set.sources, i))),
    };
    for (const [i, set] of sets.entries()) this.#handles.set(set.config.name, this.#handle(set, i));
  }

  get(name: string): RuleSetHandle | null {
    return this.#handles.get(name) ?? null;
  }

  takeOver(config: RuleSetConfig): CompiledEntries | null {
    const handle = this.#handles.get(config.name);
    const known = handle && this.sets[handle.number];
    return known && isSame(known.config, config) ? known : null;
  }

  #handle({ asks, others, ordered, beforeAsking, ...entries }: CompiledEntries, number: number): RuleSetHandle {
    const { domains, destinations, sources } = this.tables;
    const hasAddress = (address: string): boolean => destinations.find(address, number, number + 1, ALWAYS) === number;
    const later = prefixEntries(entries.destinations.slice(beforeAsking.destinations), 0);
    const laterTable = beforeAsking.destinations > 0 ? new AddressTable(later) : null;
    return {
      number,
      asks,
      others,
      ordered,
      othersBeforeAsking: beforeAsking.others,
      hasDomain: (host) => domains.find(host, number, number + 1, ALWAYS) === number,
      hasAddress,
      hasLaterAddress: laterTable ? (address) => laterTable.find(address, 0, 1, ALWAYS) === 0 : hasAddress,
      hasSource: (address) => sources.find(address, number, number + 1, ALWAYS) === number,
    };
  }
}

function domainEntries(set: CompiledEntries, number: number) {
  return set.names.map((domain, i) => {
    const labels = set.patterns.get(i);
    const scope = set.scopes[i] ?? 0;
    return labels ? { domain, scope, rule: number, labels } : { domain, scope, rule: number };
  });
}

function prefixEntries(cidrs: CompiledEntries['destinations'], number: number): PrefixEntry[] {
  return cidrs.map((cidr) => ({ cidr, rule: number }));
}

/** Compares texts: exact, and faster than hashing both. */
function isSame(a: RuleSetConfig, b: RuleSetConfig): boolean {
  if (a.entries === b.entries) return a.behavior === b.behavior;
  if (a.behavior !== b.behavior || a.entries.length !== b.entries.length) return false;
  return a.entries.every((entry, i) => entry === b.entries[i]);
}
