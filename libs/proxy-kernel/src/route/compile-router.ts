import type { KernelMode, RuleConfig } from '../interfaces/config.js';
import type { ConnectionMetadata, RouteDecision, TraceStep, TracedDecision } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import type { AsnLookup, CountryLookup, PolicyTable, Resolver, RoutedFlow, Router } from '../interfaces/route.js';
import type { Accept } from './accept.js';
import { type RuleIndex, compileRuleIndex } from './rule-index.js';
import type { MatcherContext } from './rule/matcher-context.js';
import { UNRESOLVED } from './rule/match-address.js';
import { type CompiledRuleSets, compileRuleSets } from './rule-set/rule-sets.js';
import { type TraceContext, traceStep } from './trace.js';

export interface RouterOptions {
  /** The first match wins, in this order. Not copied, so it must not change. */
  rules: readonly RuleConfig[];
  mode: KernelMode;
  defaultPolicy: string;
  policies: PolicyTable;
  resolver: Resolver;
  country: CountryLookup;
  /** Addresses that are known without asking anybody: hosts. As in mihomo rules see them from the start. Absent: none. */
  known?: ((host: string) => readonly string[] | null) | undefined;
  /** Absent: IP-ASN rules match nothing. */
  asn?: AsnLookup | undefined;
  /** Absent: none, and rules that name one are skipped. */
  ruleSets?: CompiledRuleSets | undefined;
}

const DEFAULT_TRACE_STEPS = 200;

/** How a flow came to its rule, for `explain`. */
interface Outcome {
  /** The number of rules if none matched. */
  index: number;
  /** For flows with a domain only: the rule that caused the lookup, and its result. */
  resolution: Resolution | null;
}

interface Resolution {
  at: number;
  addresses: string[];
  error: string | null;
}

/**
 * Compiles a list of rules to a router.
 * @throws KernelConfigError naming the rule and its field (`rules[17].payload`), or `defaultPolicy`.
 */
export function compileRouter(options: RouterOptions): Router {
  if (!options.policies.has(options.defaultPolicy)) {
    throw new KernelConfigError('defaultPolicy', `${options.defaultPolicy} does not exist`);
  }
  const { rules, policies, country, asn = () => null, ruleSets = compileRuleSets([]) } = options;
  const context = { country, asn, sets: ruleSets };
  return new IndexedRouter(options, compileRuleIndex({ rules, policies, context }), context);
}

class IndexedRouter implements Router {
  readonly rules: readonly RuleConfig[];
  readonly #options: RouterOptions;
  readonly #index: RuleIndex;
  readonly #context: MatcherContext;

  constructor(options: RouterOptions, index: RuleIndex, context: MatcherContext) {
    this.rules = options.rules;
    this.#options = options;
    this.#index = index;
    this.#context = context;
  }

  decide(flow: ConnectionMetadata, signal?: AbortSignal): Promise<RouteDecision> | RouteDecision {
    const outcome = this.#route(this.#prepared(flow), signal);
    return outcome instanceof Promise ? this.#decideLater(outcome) : this.#decision(outcome);
  }

  /** With its host in plain form, and the address that its host is known to have. */
  #prepared(flow: ConnectionMetadata): ConnectionMetadata {
    const plain = withPlainHost(flow);
    if (plain.host === null || plain.destinationIp !== null || this.#options.mode !== 'rule') return plain;
    const known = addressForRules(this.#options.known?.(plain.host) ?? []);
    return known === null ? plain : { ...plain, destinationIp: known };
  }

  async #decideLater(outcome: Promise<Outcome>): Promise<RouteDecision> {
    return this.#decision(await outcome);
  }

  async explain(flow: ConnectionMetadata, maxSteps = DEFAULT_TRACE_STEPS): Promise<TracedDecision> {
    const started = process.hrtime.bigint();
    const plain = this.#prepared(flow);
    const outcome = await this.#route(plain);
    const elapsedUs = Number(process.hrtime.bigint() - started) / 1000;
    const evaluated = this.#options.mode === 'rule' ? Math.min(outcome.index + 1, this.rules.length) : 0;
    return {
      ...this.#decision(outcome),
      trace: this.#trace(plain, outcome, evaluated, maxSteps),
      evaluated,
      elapsedUs,
    };
  }

  #route(flow: ConnectionMetadata, signal?: AbortSignal): Outcome | Promise<Outcome> {
    const count = this.rules.length;
    if (this.#options.mode !== 'rule') return { index: count, resolution: null };
    const index = this.#index.find(flow, 0, count, this.#acceptor(flow));
    return index >= 0 ? { index, resolution: null } : this.#routeResolved(flow, ~index, signal);
  }

  /** Rules before the one that needed the address have already missed without it, and only later ones see it. */
  async #routeResolved(flow: ConnectionMetadata, from: number, signal?: AbortSignal): Promise<Outcome> {
    const resolution = await this.#resolve(flow.host ?? '', from, signal);
    const address = addressForRules(resolution.addresses) ?? UNRESOLVED;
    const accept = this.#acceptor(flow);
    if (this.#index.matchesResolved(flow, from, address) && accept(from)) return { index: from, resolution };
    const seen = { ...flow, destinationIp: address };
    return { index: this.#index.find(seen, from + 1, this.rules.length, accept), resolution };
  }

  /** If a name does not resolve, address rules miss. The flow continues, since a later rule may match its name. */
  async #resolve(host: string, at: number, signal?: AbortSignal): Promise<Resolution> {
    try {
      const addresses = await this.#options.resolver.resolve(host, signal);
      return { at, addresses, error: addresses.length === 0 ? 'no addresses' : null };
    } catch (error) {
      return { at, addresses: [], error: error instanceof Error ? error.message : String(error) };
    }
  }

  #acceptor(flow: ConnectionMetadata): Accept {
    return flow.network === 'udp'
      ? (index) => this.#refusal(index, true) === null
      : (index) => this.#refusal(index, false) === null;
  }

  /** Why the target of a matching rule passes the flow to the next rule; null if it accepts it. */
  #refusal(index: number, udp: boolean): string | null {
    const { policies } = this.#options;
    const target = this.rules[index]?.target ?? '';
    if (policies.leaf(target) === 'PASS') return 'target passes';
    return udp && !policies.supportsUdp(target) ? 'target lacks UDP' : null;
  }

  #decision({ index, resolution }: Outcome): RouteDecision {
    const rule = this.rules[index];
    const target = rule?.target ?? this.#defaultTarget();
    const chain = this.#options.policies.chain(target);
    // Behind the last rule there is nothing to pass to, and mihomo's PASS carries no traffic either.
    if (chain.at(-1) === 'PASS') chain.push('REJECT');
    return {
      rule: rule ? { id: rule.id, index, source: rule.source, type: rule.type, payload: rule.payload, target } : null,
      target,
      chain,
      outbound: chain.at(-1) ?? 'REJECT',
      resolvedIps: resolution?.addresses ?? [],
    };
  }

  #defaultTarget(): string {
    return this.#options.mode === 'direct' ? 'DIRECT' : this.#options.defaultPolicy;
  }

  #trace(flow: ConnectionMetadata, outcome: Outcome, evaluated: number, maxSteps: number): TraceStep[] {
    const { index: matched, resolution } = outcome;
    const address = addressForRules(resolution?.addresses ?? []) ?? UNRESOLVED;
    const shown = Array.from({ length: Math.min(evaluated, maxSteps) }, (_, i) => i);
    if (matched < evaluated && matched >= shown.length) shown.push(matched);
    return shown.flatMap((index) => {
      const rule = this.rules[index];
      const seen = resolution ? seenBy(index, flow, { ...resolution, address }) : flow;
      return rule ? this.#traceStep(rule, { index, flow: seen, dnsError: resolution?.error ?? null }) : [];
    });
  }

  #traceStep(rule: RuleConfig, at: Pick<TraceContext, 'index' | 'flow' | 'dnsError'>): TraceStep {
    const exists = this.#options.policies.has(rule.target);
    const refusal = exists ? this.#refusal(at.index, at.flow.network === 'udp') : null;
    return traceStep(rule, { ...at, exists, refusal, context: this.#context });
  }
}

/** The flow as a rule saw it: without the address before the rule that asked for it. */
function seenBy(index: number, flow: ConnectionMetadata, { at, address }: { at: number; address: string }): RoutedFlow {
  if (index < at) return flow;
  return index === at ? { ...flow, resolvable: address } : { ...flow, destinationIp: address };
}

/** One address stands for the name, IPv4 before IPv6, so that the same name matches the same rule each time. */
function addressForRules(addresses: readonly string[]): string | null {
  return addresses.find((address) => !address.includes(':')) ?? addresses[0] ?? null;
}

/** A host in upper case or with a trailing dot is the same host, and must not get around a rule. */
function withPlainHost(flow: ConnectionMetadata): ConnectionMetadata {
  const { host } = flow;
  if (host === null) return flow;
  const plain = host.endsWith('.') ? host.slice(0, -1).toLowerCase() : host.toLowerCase();
  return plain === host ? flow : { ...flow, host: plain };
}
