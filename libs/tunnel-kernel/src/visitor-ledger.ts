import { formatIp, parseIp } from '@gatehouse/net';
import { resourceKey, type ResourceRef } from './resource.js';

/** How often visitors from one address used a resource since the last call: connections, UDP sessions, requests. */
export interface VisitorHits {
  resource: ResourceRef;
  clientId: number;
  /** Canonical text; null: all addresses beyond the limit. */
  address: string | null;
  hits: number;
}

const MAX_PER_RESOURCE = 10_000;
const MAX_ADDRESSES = 100_000;

interface ResourceVisitors {
  resource: ResourceRef;
  clientId: number;
  hits: Map<string | null, number>;
}

/** Counts visits by resource and address. Memory is bounded; the sum of the hits is always exact. */
export class VisitorLedger {
  private readonly maxPerResource: number;
  private resources = new Map<string, ResourceVisitors>();
  private addresses = 0;

  constructor(maxPerResource = MAX_PER_RESOURCE) {
    this.maxPerResource = maxPerResource;
  }

  hit(resource: ResourceRef, clientId: number, address: string, times = 1): void {
    const { hits } = this.visitorsOf(resource, clientId);
    // Addresses in the map are in canonical form.
    const known = hits.has(address) ? address : canonical(address);
    const count = hits.get(known);
    if (count === undefined && !this.hasRoom(hits)) return void hits.set(null, (hits.get(null) ?? 0) + times);
    if (count === undefined) this.addresses += 1;
    hits.set(known, (count ?? 0) + times);
  }

  take(): VisitorHits[] {
    const taken = [...this.resources.values()].flatMap(({ resource, clientId, hits }) =>
      [...hits].map(([address, count]) => ({ resource, clientId, address, hits: count })),
    );
    this.resources = new Map();
    this.addresses = 0;
    return taken;
  }

  private hasRoom(hits: ReadonlyMap<string | null, number>): boolean {
    return hits.size < this.maxPerResource && this.addresses < MAX_ADDRESSES;
  }

  private visitorsOf(resource: ResourceRef, clientId: number): ResourceVisitors {
    const key = resourceKey(resource);
    const known = this.resources.get(key);
    if (known) return known;
    const visitors = { resource, clientId, hits: new Map<string | null, number>() };
    this.resources.set(key, visitors);
    return visitors;
  }
}

function canonical(address: string): string | null {
  const ip = parseIp(address);
  return ip && formatIp(ip);
}
