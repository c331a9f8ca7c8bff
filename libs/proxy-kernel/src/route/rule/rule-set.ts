import type { ConnectionMetadata } from '../../interfaces/connection.js';
import { type AddressOptions, describeOptions } from './match-address.js';
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

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    const { set, options, others } = this.#parts;
    if (!set) return false;
    const address = options.src ? flow.sourceIp : flow.destinationIp;
    if (flow.host !== null && set.hasDomain(flow.host)) return true;
    if (address !== null && set.hasAddress(address)) return true;
    if (set.hasSource(flow.sourceIp)) return true;
    let open = !options.src && address === null && flow.host !== null && set.asks;
    for (const matcher of others) {
      const result = matcher.matches(flow);
      if (result === true) return true;
      if (result === 'needs-ip') open = true;
    }
    return open && !options.noResolve ? 'needs-ip' : false;
  }

  describe(): string {
    return `${this.type},${this.#parts.payload}${describeOptions(this.#parts.options)}`;
  }
}
