import type { ClientConfig, TunnelServerConfig } from '../config.js';
import { resourceKey, type ResourceRef } from '../resource.js';

export type GateRefusal = 'client_disabled' | 'client_expired' | 'address_denied' | 'too_many_connections';

/** What a visitor that was let in holds until it is gone. */
export interface Lease {
  /** Once or more: the first counts. */
  release(): void;
}

/** Decides who comes in, before anything of a visitor is read. */
export class Gate {
  private readonly now: () => number;
  private clients = new Map<number, ClientConfig>();
  private resources = new Set<string>();
  private readonly inUse = new Map<number, number>();

  constructor(now: () => number) {
    this.now = now;
  }

  apply({ clients, tunnels, hosts }: TunnelServerConfig): void {
    this.clients = new Map(clients.map((client) => [client.id, client]));
    this.resources = new Set([
      ...tunnels.map(({ id }) => resourceKey({ kind: 'tunnel', id })),
      ...hosts.map(({ id }) => resourceKey({ kind: 'host', id })),
    ]);
  }

  /** In this order: the client, its expiry, address rules, connections. */
  enter(resource: ResourceRef, clientId: number, address: string): Lease | GateRefusal {
    const refusal = this.refusal(resource, clientId, address);
    if (refusal) return refusal;
    const used = this.inUse.get(clientId) ?? 0;
    const max = this.clients.get(clientId)?.maxConnections ?? 0;
    if (max > 0 && used >= max) return 'too_many_connections';
    this.inUse.set(clientId, used + 1);
    let held = true;
    return {
      release: () => {
        if (held) this.leave(clientId);
        held = false;
      },
    };
  }

  /** Why one who is in already may not stay; null: may. */
  refusal(
    resource: ResourceRef,
    clientId: number,
    _address: string,
  ): Exclude<GateRefusal, 'too_many_connections'> | null {
    const client = this.clients.get(clientId);
    if (!client?.enabled || !this.resources.has(resourceKey(resource))) return 'client_disabled';
    if (client.expiresAt !== null && client.expiresAt <= this.now()) return 'client_expired';
    return null;
  }

  private leave(clientId: number): void {
    const used = (this.inUse.get(clientId) ?? 1) - 1;
    if (used > 0) this.inUse.set(clientId, used);
    else this.inUse.delete(clientId);
  }
}
