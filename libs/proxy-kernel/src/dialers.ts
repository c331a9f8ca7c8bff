import type { DialGuard } from './guard/target-guard.js';
import type { SelectablePolicyTable } from './group/index.js';
import { orderGroups } from './group/order-groups.js';
import { watchHop, type HopReports } from './health/index.js';
import {
  DialError,
  KernelConfigError,
  type ConnectionMetadata,
  type KernelConfig,
  type Outbound,
  type Resolver,
  type Target,
} from './interfaces/index.js';
import { createChainDialer } from './transport/chain-dialer.js';
import { createDirectDialer, type ServerDialer } from './transport/server-dialer.js';

/** The ways to nodes' servers in one generation: directly, or through what its policies choose at each dial. */
export class DialerTable {
  private readonly direct: ServerDialer;
  private outbounds: ReadonlyMap<string, Outbound> = new Map();
  private policies: SelectablePolicyTable | null = null;

  private readonly reports: HopReports | null;

  /**
   * @param reports called with the results of hops.
   * @param guard refuses the addresses that servers of nodes must not have.
   */
  constructor(resolver: Resolver, reports: HopReports | null = null, guard: DialGuard | null = null) {
    this.reports = reports;
    this.direct = createDirectDialer(resolver, guard);
  }

  /** Sets the generation's outbounds and policies, which do not exist yet when the table is created. */
  link(outbounds: ReadonlyMap<string, Outbound>, policies: SelectablePolicyTable): void {
    this.outbounds = outbounds;
    this.policies = policies;
  }

  /** @param tag absent: directly. */
  to(tag: string | undefined): ServerDialer {
    if (tag === undefined) return this.direct;
    const supportsUdp = (): boolean => this.policies?.supportsUdp(tag) ?? false;
    return createChainDialer({
      name: tag,
      get udp() {
        return supportsUdp();
      },
      outbound: (server, network) => this.hop(tag, server, network),
    });
  }

  private hop(tag: string, server: Target, network: 'tcp' | 'udp'): Outbound {
    const chosen = this.policies?.useChain(tag, hopMetadata(server, network)).at(-1) ?? tag;
    const outbound = this.outbounds.get(chosen);
    if (!outbound) throw new DialError('route', 'other', `no outbound named ${chosen}`);
    return this.reports ? watchHop(outbound, this.reports) : outbound;
  }
}

/** @throws KernelConfigError for a dialer that does not exist, and for outbounds that would dial through themselves. */
export function checkDialers({ outbounds, groups }: KernelConfig, builtIns: ReadonlyMap<string, unknown>): void {
  const chained = outbounds.filter(({ dialer }) => dialer !== undefined);
  if (chained.length === 0) return;
  const indexes = new Map(outbounds.map(({ tag }, index) => [tag, index]));
  const names = new Set([...builtIns.keys(), ...indexes.keys(), ...groups.map(({ name }) => name)]);
  for (const { tag, dialer = '' } of chained) {
    const path = `outbounds[${indexes.get(tag)}].dialer`;
    if (!names.has(dialer)) throw new KernelConfigError(path, `${tag} dials through ${dialer}, which does not exist`);
  }
  const cycle = findDialCycle({ outbounds, groups });
  const index = indexes.get(cycle?.find((name) => indexes.has(name)) ?? '');
  // The policy table refuses groups that contain each other.
  if (!cycle || index === undefined) return;
  throw new KernelConfigError(`outbounds[${index}].dialer`, `it would dial through itself: ${cycle.join(' -> ')}`);
}

/**
 * Finds a cycle of dialers (`['n1', 'PROXY', 'n1']`), or null. A group counts with all of its members, since any of
 * them may be used later.
 */
export function findDialCycle({ outbounds, groups }: Pick<KernelConfig, 'outbounds' | 'groups'>): string[] | null {
  const edges = new Map<string, readonly string[]>(groups.map(({ name, members }) => [name, members]));
  for (const { tag, dialer } of outbounds) if (dialer !== undefined) edges.set(tag, [dialer]);
  return orderGroups(edges).cycle;
}

/** A hop carries a flow to the node's server; load-balance groups choose by that address. */
function hopMetadata({ host, port }: Target, network: 'tcp' | 'udp'): ConnectionMetadata {
  return {
    network,
    type: 'Inner',
    sourceIp: '',
    sourcePort: 0,
    inboundName: '',
    inboundUser: null,
    host,
    destinationIp: null,
    destinationPort: port,
  };
}
