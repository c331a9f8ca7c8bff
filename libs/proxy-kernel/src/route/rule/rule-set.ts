import type { RoutedFlow } from '../../interfaces/route.js';
import { type AddressOptions, describeOptions, resolve, UNRESOLVED } from './match-address.js';
import type { RuleMatcher, RuleSetHandle } from './matcher-context.js';
import { RuleError } from './rule-error.js';

const MAX_NAME = 255;

/** The name of a rule's set: `GEOSITE,CN` uses `geosite:cn`. @throws RuleError */
export function setNameOf(type: 'RULE-SET' | 'GEOSITE', payload: string): string {
  if (type === 'GEOSITE') {
    if (/^[A-Za-z0-9_.!@-]{1,128}$/.test(payload)) return `geosite:${payload.toLowerCase()}`;
    throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} is not the code of a list of sites`);
  }
  if (payload !== '' && payload.length <= MAX_NAME && !/[,\p{Cc}]/u.test(payload)) return payload;
  throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} is not the name of a rule set`);
}

interface SetMatcherParts {
  type: 'RULE-SET' | 'GEOSITE';
  payload: string;
  options: AddressOptions;
  /** Null: the set does not exist. */
  set: RuleSetHandle | null;
  /** The entries of the set that are in no table, with this rule's options. */
  others: readonly RuleMatcher[];
  /** Those of the set's `ordered`, likewise. */
  ordered: readonly RuleMatcher[] | null;
}

/**
 * `RULE-SET,ads`: any entry of the set. Used inside AND, OR and NOT and for explanations; otherwise the router has the
 * entries in its index.
 */
export class RuleSetMatcher implements RuleMatcher {
  readonly type: 'RULE-SET' | 'GEOSITE';
  readonly missingSet: string | null;
  readonly #parts: SetMatcherParts;

  constructor(parts: SetMatcherParts) {
    this.type = parts.type;
    this.missingSet = parts.set ? null : setNameOf(parts.type, parts.payload);
    this.#parts = parts;
  }

  matches(flow: RoutedFlow): boolean | 'needs-ip' {
    const { set, options } = this.#parts;
    if (!set) return false;
    if (flow.host !== null && set.hasDomain(flow.host)) return true;
    if (set.hasSource(flow.sourceIp)) return true;
    const address = options.src ? flow.sourceIp : flow.destinationIp;
    if (address !== null && set.hasAddress(address)) return true;
    const mayAsk = !options.src && !options.noResolve && flow.destinationIp === null && flow.host !== null;
    if (mayAsk && flow.resolvable !== undefined) return this.#matchesInOrder(set, flow);
    return this.#matchesOthers(flow, mayAsk && set.asks);
  }

  #matchesOthers(flow: RoutedFlow, asks: boolean): boolean | 'needs-ip' {
    const { options, others } = this.#parts;
    const { resolvable: _later, ...seen } = flow;
    let open = asks;
    for (const matcher of others) {
      const result = matcher.matches(seen);
      if (result === true) return true;
      if (result === 'needs-ip') open = true;
    }
    return open && !options.noResolve && !options.src ? 'needs-ip' : false;
  }

  /** Names and the like have missed; entries before the first one that asks for the address do not see it. */
  #matchesInOrder(set: RuleSetHandle, flow: RoutedFlow): boolean {
    const { others, ordered } = this.#parts;
    if (ordered) return ordered.some((matcher) => matcher.matches(flow) === true);
    if (!set.asks) return false;
    const resolved = resolve(flow) ?? UNRESOLVED;
    if (resolved !== UNRESOLVED && set.hasLaterAddress(resolved)) return true;
    return others.slice(set.othersBeforeAsking).some((matcher) => matcher.matches(flow) === true);
  }

  describe(): string {
    return `${this.type},${this.#parts.payload}${describeOptions(this.#parts.options)}`;
  }
}
