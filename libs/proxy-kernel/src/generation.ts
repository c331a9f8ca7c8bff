import { createHash } from 'node:crypto';
import { DialerTable, checkDialers } from './dialers.js';
import { createFakeIpPool, createNameService, type FakeIpPool, type NameService } from './dns/index.js';
import { createPolicyTable, type HealthView, type SelectablePolicyTable } from './group/index.js';
import { TargetGuard } from './guard/target-guard.js';
import type { HopReports } from './health/index.js';
import {
  KernelConfigError,
  type ApplyResult,
  type DnsConfig,
  type KernelConfig,
  type KernelEnvironment,
  type Outbound,
  type OutboundConfig,
  type Resolver,
  type Router,
} from './interfaces/index.js';
import { builtInOutbounds, createOutbound } from './registry.js';
import { compileRouter, compileRuleSets, type CompiledRuleSets } from './route/index.js';
import { NodeLabels } from './users/index.js';

/**
 * One applied configuration, compiled. Immutable except for the selections of its groups; a flow keeps its generation
 * until it ends.
 * A former generation is not closed: its flows may still dial through its outbounds, some of which the present
 * generation shares. All that remains without flows are shared sessions, which close when they are idle: after 30 s
 * (HTTP/2), 60 s (SSH), or the time in the node's options, an hour at most (AnyTLS).
 */
export interface Generation {
  readonly number: number;
  readonly config: KernelConfig;
  readonly hash: string;
  readonly outbounds: ReadonlyMap<string, Outbound>;
  readonly policies: SelectablePolicyTable;
  readonly labels: NodeLabels;
  readonly ruleSets: CompiledRuleSets;
  readonly resolver: Resolver;
  /** Null: only the kernel itself resolves names. */
  readonly names: NameService | null;
  /** Null: off. */
  readonly fakeIps: FakeIpPool | null;
  readonly router: Router;
  /** Null: every address may be dialled. */
  readonly guard: TargetGuard | null;
}

/**
 * Compiles a configuration. Nothing is in use until this returns. Outbounds of unchanged nodes are reused.
 * @throws KernelConfigError naming the element.
 */
export function compileGeneration(
  config: KernelConfig,
  previous: Generation | null,
  environment: KernelEnvironment,
  health: HealthView & HopReports,
): Generation {
  const { resolver, names, fakeIps } = compileDns(config, previous, environment);
  const guard = config.guard ? new TargetGuard(config.guard, config.rules, environment.resolver) : null;
  const dialers = new DialerTable(resolver, health, guard?.forServers ?? null);
  const sameWay = previous?.resolver === resolver && isSameGuard(previous.config, config);
  const builtIns = builtInOutbounds(resolver, guard);
  const outbounds = compileOutbounds(config, sameWay ? previous : null, builtIns, dialers);
  const policies = createPolicyTable(outbounds, config.groups, { health, now: () => environment.now() });
  dialers.link(outbounds, policies);
  const ruleSets = compileRuleSets(config.ruleSets ?? [], previous?.ruleSets ?? null);
  const router = compileRouter({
    rules: config.rules,
    mode: config.mode,
    defaultPolicy: config.defaultPolicy,
    policies,
    resolver,
    country: environment.country,
    asn: environment.asn,
    ruleSets,
    known: names && Object.keys(config.dns?.hosts ?? {}).length > 0 ? (host) => names.resolver.fixed(host) : undefined,
  });
  const hash = createHash('sha256').update(JSON.stringify(config)).digest('hex');
  const number = (previous?.number ?? 0) + 1;
  const labels = new NodeLabels(config.outbounds);
  return { number, config, hash, outbounds, policies, labels, ruleSets, resolver, names, fakeIps, router, guard };
}

/** Unchanged name servers and fixed answers keep the cache; an unchanged range keeps the names behind its addresses. */
function compileDns(
  { dns }: KernelConfig,
  previous: Generation | null,
  environment: KernelEnvironment,
): Pick<Generation, 'resolver' | 'names' | 'fakeIps'> {
  if (!dns) return { resolver: environment.resolver, names: null, fakeIps: null };
  const isSame = sourcesOf(previous?.config.dns) === sourcesOf(dns);
  const kept = isSame ? previous?.names : null;
  const names = kept ?? createNameService(dns, { now: () => environment.now() });
  const { fakeIp } = dns;
  const fakeIps = fakeIp ? createFakeIpPool(fakeIp.range, fakeIp.filter, previous?.fakeIps) : null;
  return { resolver: names.resolver, names, fakeIps };
}

/** The sources of answers, as a key for comparing. */
function sourcesOf(dns: DnsConfig | undefined): string | null {
  if (!dns) return null;
  const { nameservers, bootstrap, policy, hosts } = dns;
  return JSON.stringify([nameservers, bootstrap, policy, hosts]);
}

function compileOutbounds(
  config: KernelConfig,
  previous: Generation | null,
  outbounds: Map<string, Outbound>,
  dialers: DialerTable,
): Map<string, Outbound> {
  checkDialers(config, outbounds);
  const before = new Map(previous?.config.outbounds.map((outbound) => [outbound.tag, keepKey(outbound)]));
  for (const [index, outbound] of config.outbounds.entries()) {
    const { tag, node, dialer } = outbound;
    const path = `outbounds[${index}]`;
    if (outbounds.has(tag)) throw new KernelConfigError(path, `the tag ${tag} is used twice`);
    const key = keepKey(outbound);
    const kept = key !== null && before.get(tag) === key ? previous?.outbounds.get(tag) : undefined;
    outbounds.set(tag, kept ?? createOutbound(tag, node, dialers.to(dialer), path));
  }
  return outbounds;
}

/** A reused outbound keeps the guard that it was created with. */
function isSameGuard(before: KernelConfig, after: KernelConfig): boolean {
  return JSON.stringify(before.guard) === JSON.stringify(after.guard);
}

/**
 * What must be equal for an outbound to be reused. One with a dialer never is, since it dials by its own generation's
 * policies.
 */
function keepKey({ node, dialer }: OutboundConfig): string | null {
  return dialer === undefined ? JSON.stringify(node) : null;
}

/** The numbers of elements of each kind that were added, removed or changed. */
export function countChanges(before: KernelConfig | null, after: KernelConfig): ApplyResult['changed'] {
  const rule = (config: KernelConfig | null): Map<string, string> =>
    byKey(config?.rules ?? [], (value, index) => String(value.id ?? `${value.source}:${index}`));
  return {
    nodes: differences(
      byKey(before?.outbounds ?? [], ({ tag }) => tag),
      byKey(after.outbounds, ({ tag }) => tag),
    ),
    groups: differences(
      byKey(before?.groups ?? [], ({ name }) => name),
      byKey(after.groups, ({ name }) => name),
    ),
    rules: differences(rule(before), rule(after)),
    listeners: differences(
      byKey(listenersOf(before), ({ name }) => name),
      byKey(listenersOf(after), ({ name }) => name),
    ),
  };
}

function listenersOf(config: KernelConfig | null): { name: string }[] {
  const dns = config?.dns?.listen;
  return [...(config?.listeners ?? []), ...(dns ? [{ name: ' dns', ...dns }] : [])];
}

function byKey<T>(items: readonly T[], key: (item: T, index: number) => string): Map<string, string> {
  return new Map(items.map((item, index) => [key(item, index), JSON.stringify(item)]));
}

function differences(before: Map<string, string>, after: Map<string, string>): number {
  let count = 0;
  for (const [key, value] of after) if (before.get(key) !== value) count += 1;
  for (const key of before.keys()) if (!after.has(key)) count += 1;
  return count;
}
