import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { RuleError } from './rule-error.js';

const MAX_NAMES = 64;
const INBOUND_TYPES: ReadonlySet<string> = new Set(['HTTP', 'HTTPS', 'SOCKS4', 'SOCKS5', 'SOCKS', 'INNER']);

/** `IN-TYPE,SOCKS/HTTP`: the protocol between client and listener. `SOCKS` is both versions; `HTTPS` is CONNECT. */
export class InTypeMatcher implements Matcher {
  readonly type = 'IN-TYPE';
  readonly #types: ReadonlySet<string>;

  constructor(payload: string) {
    const types = splitNames(payload.toUpperCase());
    const unknown = types.find((type) => !INBOUND_TYPES.has(type));
    if (unknown !== undefined) {
      const known = [...INBOUND_TYPES].join(', ');
      throw new RuleError(
        'payload',
        `${JSON.stringify(unknown.slice(0, 80))} is not an inbound of this kernel (${known})`,
      );
    }
    this.#types = new Set(types.flatMap((type) => (type === 'SOCKS' ? ['SOCKS4', 'SOCKS5'] : [type])));
  }

  matches(flow: ConnectionMetadata): boolean {
    return this.#types.has(flow.type.toUpperCase());
  }

  describe(): string {
    return `IN-TYPE,${[...this.#types].join('/')}`;
  }
}

/** `IN-USER,anna/ben`: the client's user name; `IN-NAME,mixed`: the listener it came through. */
export class InboundNameMatcher implements Matcher {
  readonly type: 'IN-USER' | 'IN-NAME';
  readonly #names: ReadonlySet<string>;

  constructor(type: 'IN-USER' | 'IN-NAME', payload: string) {
    this.type = type;
    this.#names = new Set(splitNames(payload));
  }

  matches(flow: ConnectionMetadata): boolean {
    const name = this.type === 'IN-USER' ? flow.inboundUser : flow.inboundName;
    return name !== null && this.#names.has(name);
  }

  describe(): string {
    return `${this.type},${[...this.#names].join('/')}`;
  }
}

function splitNames(payload: string): string[] {
  const names = payload.split('/').map((name) => name.trim());
  if (names.includes('') || payload.includes(',')) {
    throw new RuleError(
      'payload',
      `${JSON.stringify(payload.slice(0, 80))} is not a list of names with / between them`,
    );
  }
  if (names.length > MAX_NAMES) throw new RuleError('payload', `more than ${MAX_NAMES} names`);
  return names;
}
