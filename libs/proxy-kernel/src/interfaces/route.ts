import type { ConnectionMetadata, RouteDecision, TracedDecision } from './connection.js';
import type { RuleConfig } from './config.js';

export type { AsnLookup, CountryLookup } from '@gatehouse/geo';

/** Resolves a domain to addresses. @throws DialError stage `dns`. */
export interface Resolver {
  resolve(host: string, signal?: AbortSignal): Promise<string[]>;
}

/** A flow as conditions see it, one after another. */
export interface RoutedFlow extends ConnectionMetadata {
  /**
   * The address that the name resolved to. It becomes `destinationIp` at the first condition that asks for it, as in
   * mihomo: conditions before that one do not see it.
   */
  resolvable?: string;
}

/**
 * A predicate over flows, compiled from one rule. Logs and the console show `describe`. `matches` returns `needs-ip` if
 * the flow has only a domain and this rule needs its address.
 */
export interface Matcher {
  readonly type: string;
  matches(flow: RoutedFlow): boolean | 'needs-ip';
  describe(): string;
}

/** What the router must know about targets to skip a rule or follow a group. */
export interface PolicyTable {
  has(tag: string): boolean;
  supportsUdp(tag: string): boolean;
  /** `PROXY` → `['PROXY', 'n12']`. A load-balance group chooses by `flow`; without one it shows its first living member. */
  chain(tag: string, flow?: ConnectionMetadata): string[];
  /** Last of `chain(tag)`: `PROXY` → `n12`. */
  leaf(tag: string): string;
}

/** Compiled once for each generation; pure apart from its resolver. */
export interface Router {
  readonly rules: readonly RuleConfig[];
  decide(flow: ConnectionMetadata, signal?: AbortSignal): Promise<RouteDecision> | RouteDecision;
  /** The same decision with its reasons: at most `maxSteps` steps, and the one that matched. */
  explain(flow: ConnectionMetadata, maxSteps?: number): Promise<TracedDecision>;
}
