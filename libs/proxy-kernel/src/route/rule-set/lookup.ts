/** Whether conditions in an order have a name resolved, and which of them then see its address. */
import type { RuleSetConfig } from '../../interfaces/config.js';

/**
 * - `never`: nothing is resolved.
 * - `at-once`: every condition that looks at addresses may ask for one, so none misses what a later one gets.
 * - `in-order`: conditions that do not ask may stand before one that does, and do not see what it gets.
 */
export type Lookup = 'never' | 'at-once' | 'in-order';

// Entries are read as text: parsing 100,000 of them takes 120 ms, in which the service answers nobody, and this takes 15.
const ADDRESS = /\b(IP-CIDR6?|IP-SUFFIX|IP-ASN|GEOIP)\s*,/i;
const LOGIC = /^\s*(AND|OR|NOT)\s*,/i;
const NO_RESOLVE = /no-resolve/i;
/** Looks at the client's address, which is always known. */
const OF_CLIENT = /\b(SRC|SOURCE)-(IP|GEOIP)|,\s*src\b/i;
const NAMES_A_SET = /\bRULE-SET\s*,/i;

/** Sets stay the same objects while their entries do, and have up to 100,000 of them. */
const known = new WeakMap<readonly string[], Lookup>();

export function lookupOfSet({ behavior, entries }: RuleSetConfig): Lookup {
  if (behavior === 'domain') return 'never';
  if (behavior === 'ipcidr') return 'at-once';
  const before = known.get(entries);
  if (before) return before;
  const lookup = ofEntries(entries);
  known.set(entries, lookup);
  return lookup;
}

function ofEntries(entries: readonly string[]): Lookup {
  let asks = false;
  let doesNotAsk = false;
  for (const entry of entries) {
    if (LOGIC.test(entry)) return 'in-order';
    if (!ADDRESS.test(entry) || OF_CLIENT.test(entry)) continue;
    if (NO_RESOLVE.test(entry)) doesNotAsk = true;
    else asks = true;
  }
  if (!asks) return 'never';
  return doesNotAsk ? 'in-order' : 'at-once';
}

/** Of the payload of AND, OR or NOT. */
export function lookupOfLogic(payload: string): Lookup {
  if (NAMES_A_SET.test(payload)) return 'in-order';
  if (!ADDRESS.test(payload)) return 'never';
  return NO_RESOLVE.test(payload) ? 'in-order' : 'at-once';
}
