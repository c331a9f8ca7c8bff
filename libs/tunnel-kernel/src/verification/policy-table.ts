import type { TunnelMode, TunnelServerConfig, VisitorPolicyConfig } from '../config.js';
import { resourceKey, type ResourceRef } from '../resource.js';

type Policies = readonly VisitorPolicyConfig[];

const NONE: Policies = [];
/** Modes whose visitors show a key of the tunnel. */
const WITH_KEYS: ReadonlySet<TunnelMode> = new Set(['secret', 'p2p']);

/** The policies of each resource: immutable, replaced as a whole. */
export class PolicyTable {
  private readonly own = new Map<string, VisitorPolicyConfig[]>();
  private readonly byId = new Map<number, VisitorPolicyConfig>();
  /** The client of each resource. */
  private readonly owners = new Map<string, number>();
  private readonly silent = new Set<number>();

  constructor({ policies, tunnels, hosts }: Pick<TunnelServerConfig, 'policies' | 'tunnels' | 'hosts'>) {
    for (const policy of policies) {
      const { kind, id } = policy.resource;
      const key = `${kind}:${id}`;
      this.own.set(key, [...(this.own.get(key) ?? []), policy]);
      this.byId.set(policy.id, policy);
    }
    for (const { id, clientId, mode } of tunnels) {
      if (mode === 'udp') this.silent.add(id);
      if (!WITH_KEYS.has(mode)) this.owners.set(resourceKey({ kind: 'tunnel', id }), clientId);
    }
    for (const { id, clientId } of hosts) this.owners.set(resourceKey({ kind: 'host', id }), clientId);
  }

  /** A client's policies apply to those of its resources that have none. */
  of(resource: ResourceRef, clientId: number): Policies {
    if (this.own.size === 0) return NONE;
    return this.own.get(resourceKey(resource)) ?? this.own.get(`client:${clientId}`) ?? NONE;
  }

  ofTunnel(id: number): Policies {
    const clientId = this.owners.get(resourceKey({ kind: 'tunnel', id }));
    return clientId === undefined ? NONE : this.of({ kind: 'tunnel', id }, clientId);
  }

  /** The client that a policy belongs to; null: none that is served. */
  clientOf({ resource: { kind, id } }: VisitorPolicyConfig): number | null {
    return kind === 'client' ? id : (this.owners.get(resourceKey({ kind, id })) ?? null);
  }

  /** Whether visitors of the tunnel cannot be sent a message. */
  isSilent(tunnelId: number): boolean {
    return this.silent.has(tunnelId);
  }

  /** Whether the policy is unchanged. */
  has({ id, version, type }: VisitorPolicyConfig): boolean {
    const known = this.byId.get(id);
    return known?.version === version && known.type === type;
  }

  /** Resources whose visitors must be verified again, because their policies differ from those of `before`. */
  changedSince(before: PolicyTable): ReadonlySet<string> {
    const changed = new Set<string>();
    if (this.own.size === 0) return changed;
    for (const [key, clientId] of this.owners) {
      const policies = this.ofKey(key, clientId);
      if (policies.length === 0) continue;
      const owner = before.owners.get(key);
      if (owner !== clientId || signature(policies) !== signature(before.ofKey(key, clientId))) changed.add(key);
    }
    return changed;
  }

  private ofKey(key: string, clientId: number): Policies {
    return this.own.get(key) ?? this.own.get(`client:${clientId}`) ?? NONE;
  }
}

function signature(policies: Policies): string {
  return policies.map(({ id, version }) => `${id}.${version}`).join();
}
