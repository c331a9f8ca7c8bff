import { TunnelError, type ClientStore } from '@gatehouse/tunnel-kernel';
import type { ConfigRows } from '../../common/config-rows.js';
import type { WorkerPlace } from '../../common/edge-ipc.js';
import { Dealing } from './dealing.js';

/** The part of the shared configuration that one worker serves. */
export class WorkerShare {
  private readonly place: WorkerPlace;
  private dealing: Dealing;
  private clients = new Set<number>();
  private hosts = new Set<number>();
  /** Clients of the previous configuration that another worker serves now. */
  left: number[] = [];

  constructor(place: WorkerPlace) {
    this.place = place;
    this.dealing = new Dealing({ clients: [], tunnels: [], hosts: [] }, place.count);
  }

  /**
   * The rows of this worker. It gets all hosts, for their certificates: agents may connect under any name. `serves`
   * says which hosts are served.
   */
  take(rows: ConfigRows): ConfigRows {
    const before = this.clients;
    this.dealing = new Dealing(rows, this.place.count);
    const clients = rows.clients.filter(({ id }) => this.isOwn(id));
    this.clients = new Set(clients.map(({ id }) => id));
    const known = new Set(rows.clients.map(({ id }) => id));
    this.left = [...before].filter((id) => known.has(id) && !this.clients.has(id));
    const tunnels = rows.tunnels.filter(({ clientId }) => this.isOwn(clientId));
    const ids = {
      client: this.clients,
      tunnel: new Set(tunnels.map(({ id }) => id)),
      host: new Set(rows.hosts.filter(({ clientId }) => this.isOwn(clientId)).map(({ id }) => id)),
    };
    this.hosts = ids.host;
    return {
      ...rows,
      clients,
      tunnels,
      ipRules: rows.ipRules.filter(({ scope, resourceId }) => {
        return (scope !== 'client' && scope !== 'tunnel' && scope !== 'host') || ids[scope].has(resourceId);
      }),
      policies: rows.policies.filter(({ kind, resourceId }) => ids[kind].has(resourceId)),
    };
  }

  /** Problems of other hosts are reported by their workers. */
  isOwnHost(id: number): boolean {
    return this.hosts.has(id);
  }

  /** Clients whose tunnels only this worker reports about. */
  clientIds(): number[] {
    return [...this.clients];
  }

  /** Names without a host can be served by any worker. */
  serves(name: string): boolean {
    const worker = this.dealing.ofName(name);
    return worker === null || worker === this.place.index;
  }

  /** Whether this worker serves the tag of an agent or a visitor's program; see `Dealing.ofTag`. */
  servesTag(tag: string): boolean {
    const worker = this.dealing.ofTag(tag);
    return worker === null || worker === this.place.index;
  }

  /**
   * Agents of other workers' clients are sent away; they reconnect through the door, which knows their worker by then.
   */
  guard(store: ClientStore): ClientStore {
    return {
      findByKeyHash: async (keyHash) => {
        const client = await store.findByKeyHash(keyHash);
        if (client && !this.isOwn(client.id)) throw servedElsewhere();
        return client;
      },
    };
  }

  /** Whether this worker serves the client. */
  readonly isOwn = (clientId: number): boolean => this.dealing.ofClient(clientId) === this.place.index;
}

/** Agents reconnect soon after this error. */
export function servedElsewhere(): TunnelError {
  return new TunnelError('draining', 'another process serves this client');
}
