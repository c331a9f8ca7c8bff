import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { RuleError } from './rule-error.js';

/** The same limit as in mihomo. */
const MAX_RANGES = 28;

export type PortRuleType = 'DST-PORT' | 'SRC-PORT' | 'IN-PORT';

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

const PORT_OF: Record<PortRuleType, (flow: ConnectionMetadata) => number | undefined> = {
  'DST-PORT': (flow) => flow.destinationPort,
  'SRC-PORT': (flow) => flow.sourcePort,
  'IN-PORT': (flow) => flow.inboundPort,
};

/**
 * `DST-PORT,80/443/8000-9000`: the target's port (or the client's, or the listener's) is in one of up to 28 ports and
 * ranges. Commas can be used instead of slashes.
 */
export class PortMatcher implements Matcher {
  readonly type: PortRuleType;
  readonly ranges: readonly PortRange[];
  readonly #portOf: (flow: ConnectionMetadata) => number | undefined;

  constructor(type: PortRuleType, payload: string) {
    this.type = type;
    this.#portOf = PORT_OF[type];
    const parts = payload.split(/[/,]/).map((part) => part.trim());
    if (parts.length > MAX_RANGES) throw new RuleError('payload', `more than ${MAX_RANGES} ports and ranges`);
    this.ranges = parts.map(parseRange);
  }

  matches(flow: ConnectionMetadata): boolean {
    const port = this.#portOf(flow);
    return port !== undefined && this.ranges.some((range) => port >= range.from && port <= range.to);
  }

  describe(): string {
    const text = this.ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join('/');
    return `${this.type},${text}`;
  }
}

function parseRange(text: string): PortRange {
  const [, first, last = first] = /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?$/.exec(text) ?? [];
  const ends = [Number(first), Number(last)].sort((a, b) => a - b);
  const [from = NaN, to = NaN] = ends;
  if (!(to <= 65_535))
    throw new RuleError('payload', `${JSON.stringify(text.slice(0, 80))} is not a port or a range of ports`);
  return { from, to };
}
