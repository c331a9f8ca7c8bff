import type { ClientConfig, TunnelServerConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { TrafficQuotas } from '../limits/traffic-quotas.js';
import { resourceKey, type ResourceRef } from '../resource.js';
import { IpPatternError } from './ip-pattern.js';
import { IpRules, type IpDenial, type IpRuleOptions } from './ip-rules.js';
import type { Asked } from './request-condition.js';

const GATE_REFUSALS = [
  'client_disabled',
  'client_expired',
  'address_denied',
  'quota_used_up',
  'too_many_connections',
] as const;
/** Includes refusals before the gate: by a proxy that is not trusted, or whose header is invalid. */
export const ADMISSION_REFUSALS = [...GATE_REFUSALS, 'untrusted_proxy', 'bad_proxy_header'] as const;
export type GateRefusal = (typeof GATE_REFUSALS)[number];
export type AdmissionRefusal = (typeof ADMISSION_REFUSALS)[number];
/** Refused visitors by reason. */
export type Refusals = Record<AdmissionRefusal, number>;

/** What an admitted visitor occupies until it leaves. */
export interface Lease {
  /** May be called more than once. */
  release(): void;
}

/** Connections of the same clients at other servers of the gateway. */
export interface ConnectionsElsewhere {
  of(clientId: number): number;
  /** A connection came or ended here. */
  changed(clientId: number): void;
}

/** Decides about visitors before any of their bytes are read. */
export class Gate {
  private readonly now: () => number;
  private readonly ruleOptions: IpRuleOptions;
  private clients = new Map<number, ClientConfig>();
  /** The client of each resource. */
  private owners = new Map<string, number>();
  private rules: IpRules;
  private readonly inUse = new Map<number, number>();
  private readonly elsewhere: ConnectionsElsewhere | null;
  private readonly quotas: Pick<TrafficQuotas, 'stopping'> | null;

  /** `elsewhere`: null if no other server serves the same clients. */
  constructor(
    now: () => number,
    ruleOptions: IpRuleOptions = {},
    elsewhere: ConnectionsElsewhere | null = null,
    quotas: Pick<TrafficQuotas, 'stopping'> | null = null,
  ) {
    this.now = now;
    this.ruleOptions = ruleOptions;
    this.elsewhere = elsewhere;
    this.quotas = quotas;
    this.rules = new IpRules([], ruleOptions);
  }

  /** @throws TunnelError `protocol` for an invalid rule; nothing has changed then. */
  apply({ clients, tunnels, hosts, ipRules }: TunnelServerConfig): void {
    this.rules = this.compile(ipRules);
    this.clients = new Map(clients.map((client) => [client.id, client]));
    this.owners = new Map([
      ...tunnels.map(({ id, clientId }) => [resourceKey({ kind: 'tunnel', id }), clientId] as const),
      ...hosts.map(({ id, clientId }) => [resourceKey({ kind: 'host', id }), clientId] as const),
    ]);
  }

  ownerOf(resource: ResourceRef): number | undefined {
    return this.owners.get(resourceKey(resource));
  }

  /** Checks in this order: the client, its expiry, address rules, traffic quotas, connections. */
  enter(resource: ResourceRef, clientId: number, address: string, asked?: Asked): Lease | GateRefusal {
    const refusal = this.refusal(resource, clientId, address, asked);
    if (refusal) return refusal;
    const used = this.inUse.get(clientId) ?? 0;
    const max = this.clients.get(clientId)?.maxConnections ?? 0;
    const others = max > 0 ? (this.elsewhere?.of(clientId) ?? 0) : 0;
    if (max > 0 && used + others >= max) return 'too_many_connections';
    this.inUse.set(clientId, used + 1);
    if (max > 0) this.elsewhere?.changed(clientId);
    let held = true;
    return {
      release: () => {
        if (held) this.leave(clientId);
        held = false;
      },
    };
  }

  /** Why an admitted visitor may not stay; null: it may. */
  refusal(
    resource: ResourceRef,
    clientId: number,
    address: string,
    asked?: Asked,
  ): Exclude<GateRefusal, 'too_many_connections'> | null {
    // A visitor of a resource that was removed, or that now belongs to another client, learns no more than with a
    // disabled client.
    if (this.ownerOf(resource) !== clientId) return 'client_disabled';
    const refusal = this.clientRefusal(clientId);
    if (refusal) return refusal;
    if (this.denial(resource, clientId, address, asked)) return 'address_denied';
    return this.quotas?.stopping({ resource, clientId, userId: this.userOf(clientId) }) ? 'quota_used_up' : null;
  }

  /** Why a client is not served at the moment; null: it is. */
  clientRefusal(clientId: number): 'client_disabled' | 'client_expired' | null {
    const client = this.clients.get(clientId);
    if (!client?.enabled) return 'client_disabled';
    return client.expiresAt !== null && client.expiresAt <= this.now() ? 'client_expired' : null;
  }

  /** The rule that denies an address, or what it asks for. */
  denial(resource: ResourceRef, clientId: number, address: string, asked?: Asked): IpDenial | null {
    return this.rules.decide(address, { userId: this.userOf(clientId), clientId, resource, asked });
  }

  /** The owner of a client; 0: unknown. */
  userOf(clientId: number): number {
    return this.clients.get(clientId)?.userId ?? 0;
  }

  /** Whether the number of a client's connections has a limit. */
  isLimited(clientId: number): boolean {
    return (this.clients.get(clientId)?.maxConnections ?? 0) > 0;
  }

  /** Number of a client's connections. */
  connectionsOf(clientId: number): number {
    return this.inUse.get(clientId) ?? 0;
  }

  private compile(ipRules: TunnelServerConfig['ipRules']): IpRules {
    try {
      return new IpRules(ipRules, this.ruleOptions, this.rules);
    } catch (error) {
      if (!(error instanceof IpPatternError)) throw error;
      throw new TunnelError('protocol', error.message, { cause: error });
    }
  }

  private leave(clientId: number): void {
    const used = this.connectionsOf(clientId) - 1;
    if (used > 0) this.inUse.set(clientId, used);
    else this.inUse.delete(clientId);
    if (this.isLimited(clientId)) this.elsewhere?.changed(clientId);
  }
}
