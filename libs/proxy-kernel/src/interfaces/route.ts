import type { ConnectionMetadata, RouteDecision, TracedDecision } from './connection.js';
import type { RuleConfig } from './config.js';

export type { AsnLookup, CountryLookup } from '@gatehouse/geo';

/** Domain to addresses. @throws DialError stage `dns`. */
export interface Resolver {
  resolve(host: string, signal?: AbortSignal): Promise<string[]>;
}

/**
 * A predicate over one flow, compiled from one rule. `describe` is what logs and the console show.
 * `matches` answers `needs-ip` when the flow has a domain only and this rule would decide on its address.
 */
export interface Matcher {
  readonly type: string;
  matches(flow: ConnectionMetadata): boolean | 'needs-ip';
  describe(): string;
}

/** What the router must know of targets to skip a rule or walk a group. */
export interface PolicyTable {
  has(tag: string): boolean;
  supportsUdp(tag: string): boolean;
  /** `PROXY` → `['PROXY', 'n12']`. A load-balance group chooses by `flow`; without one it shows its first living member. */
  chain(tag: string, flow?: ConnectionMetadata): string[];
  /** Last of `chain(tag)`: `PROXY` → `n12`. */
  leaf(tag: string): string;
}

/** Compiled once per generation; pure but for the resolver it was given. */
export interface Router {
  readonly rules: readonly RuleConfig[];
  decide(flow: ConnectionMetadata, signal?: AbortSignal): Promise<RouteDecision> | RouteDecision;
  /** The same decision with its reasons; at most `maxSteps` steps and the one that matched. */
  explain(flow: ConnectionMetadata, maxSteps?: number): Promise<TracedDecision>;
}
