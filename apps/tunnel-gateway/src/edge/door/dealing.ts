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
  /** It may be shown the certificate of a less special name. */
  bare: boolean;
}

/**
 * Which worker serves which client, worked out of the configuration alone: everybody who has the same one comes to the same
 * answer. Clients that serve one name together stay together, so that a connection for a name is one worker's whatever
 * is asked for on it.
 */
export class Dealing {
  private readonly count: number;
  /** Towards the lowest id of the group. */
  private readonly parents = new Map<number, number>();
  private readonly tags = new Map<string, number>();
  private readonly tunnels: Map<number, number>;
  private readonly names = new Map<string, NamePattern>();

  constructor({ clients, tunnels, hosts }: DealingRows, count: number) {
    this.count = count;
    for (const { id, keyHash, previousKeyHash } of clients) {
      this.addTag(agentRouteTag(keyHash), id);
      // Whether it lets the agent in is for the worker to say.
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

  /** Of what an agent or a visitor's program says openly; null: nobody is known by it. */
  ofTag(tag: string): number | null {
    const client = tag.startsWith('t') ? this.tunnels.get(Number(tag.slice(1))) : this.tags.get(tag);
    return client === undefined ? null : this.ofClient(client);
  }

  /** Of a name in the form of `readAuthority`; null: nobody serves it. */
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

  /** Of those that take what a name does not, the most special one. */
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

/** Whether a less special name has a say in what becomes of a connection for this one. */
function leavesRequests({ rootHttp, rootHttps, bare }: NamePattern): boolean {
  return !rootHttp || !rootHttps || bare;
}
