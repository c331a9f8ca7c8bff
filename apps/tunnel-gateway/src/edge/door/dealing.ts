import { agentRouteTag } from '@gatehouse/tunnel-kernel';
import type { ClientRow, HostRow, TunnelRow } from '../../common/config-rows.js';

export interface DealingRows {
  clients: readonly Pick<ClientRow, 'id' | 'keyHash' | 'previousKeyHash'>[];
  tunnels: readonly Pick<TunnelRow, 'id' | 'clientId'>[];
  hosts: readonly Pick<HostRow, 'clientId' | 'host' | 'location' | 'scheme' | 'certPath'>[];
}

/** The hosts of one name, `*.name` or `*`. */
interface NamePattern {
  client: number;
  rootHttp: boolean;
  rootHttps: boolean;
  /** Visitors may be shown the certificate of a less specific name. */
  bare: boolean;
}

/**
 * Assigns clients to workers, based on the configuration alone: every process with the same configuration gets the same
 * result. Clients that share a name stay together, so that all requests of a connection for that name go to one worker.
 */
export class Dealing {
  private readonly count: number;
  /** Points towards the lowest id of the group. */
  private readonly parents = new Map<number, number>();
  private readonly tags = new Map<string, number>();
  private readonly tunnels: Map<number, number>;
  private readonly names = new Map<string, NamePattern>();

  constructor({ clients, tunnels, hosts }: DealingRows, count: number) {
    this.count = count;
    for (const { id, keyHash, previousKeyHash } of clients) {
      this.addTag(agentRouteTag(keyHash), id);
      // The worker decides whether the former key is still valid.
      if (previousKeyHash) this.addTag(agentRouteTag(previousKeyHash), id);
    }
    this.tunnels = new Map(tunnels.map(({ id, clientId }) => [id, clientId]));
    for (const host of hosts) this.addHost(host);
    for (const [pattern, known] of this.names) {
      const next = leavesRequests(known) ? this.lessSpecial(pattern) : undefined;
      if (next) this.join(known.client, next.client);
    }
  }

  ofClient(id: number): number {
    return this.lowest(id) % this.count;
  }

  /** The worker for the tag of an agent or a visitor's program; null: unknown. */
  ofTag(tag: string): number | null {
    const client = tag.startsWith('t') ? this.tunnels.get(Number(tag.slice(1))) : this.tags.get(tag);
    return client === undefined ? null : this.ofClient(client);
  }

  /** The worker for a name from `readAuthority`; null: no host has it. */
  ofName(name: string): number | null {
    const found = this.names.get(name) ?? this.lessSpecial(name);
    return found ? this.ofClient(found.client) : null;
  }

  private addTag(tag: string, client: number): void {
    const other = this.tags.get(tag);
    if (other === undefined) this.tags.set(tag, client);
    else this.join(other, client);
  }

  private addHost({ clientId, host, location, scheme, certPath }: DealingRows['hosts'][number]): void {
    const key = host.toLowerCase();
    const known = this.names.get(key) ?? { client: clientId, rootHttp: false, rootHttps: false, bare: false };
    this.names.set(key, known);
    this.join(known.client, clientId);
    if (location === '/' && scheme !== 'https') known.rootHttp = true;
    if (location === '/' && scheme !== 'http') known.rootHttps = true;
    if (scheme !== 'http' && certPath === null) known.bare = true;
  }

  /** The most specific pattern that matches what a name does not serve. */
  private lessSpecial(pattern: string): NamePattern | undefined {
    const from = pattern.startsWith('*.') ? pattern.indexOf('.') + 1 : 0;
    for (let dot = pattern.indexOf('.', from); dot > 0; dot = pattern.indexOf('.', dot + 1)) {
      const found = this.names.get(`*${pattern.slice(dot)}`);
      if (found) return found;
    }
    return pattern === '*' ? undefined : this.names.get('*');
  }

  private lowest(id: number): number {
    let at = id;
    for (let next = this.parents.get(at); next !== undefined; next = this.parents.get(at)) at = next;
    return at;
  }

  private join(one: number, other: number): void {
    const [a, b] = [this.lowest(one), this.lowest(other)];
    if (a !== b) this.parents.set(Math.max(a, b), Math.min(a, b));
  }
}

/** Whether a less specific name may also serve requests on a connection for this one. */
function leavesRequests({ rootHttp, rootHttps, bare }: NamePattern): boolean {
  return !rootHttp || !rootHttps || bare;
}
