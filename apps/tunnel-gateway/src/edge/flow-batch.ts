import { randomUUID } from 'node:crypto';
import { addCounts } from '@gatehouse/net';
import { halveRows } from '@gatehouse/postgres';
import type { FlowDelta, ResourceKind, VisitorHits } from '@gatehouse/tunnel-kernel';

/** What one resource carried. */
export interface FlowShare {
  kind: ResourceKind;
  id: number;
  clientId: number;
  userId: number;
  /** Bytes from visitors. */
  inlet: number;
  /** Bytes to visitors. */
  export: number;
  connections: number;
}

/** How often an address used a resource. */
export interface VisitorShare {
  kind: ResourceKind;
  id: number;
  clientId: number;
  userId: number;
  ip: string;
  hits: number;
  /** Milliseconds since the epoch. */
  lastSeen: number;
}

/** The counters of one interval. A batch counts once, however often it is sent. */
export interface FlowBatch {
  id: string;
  /** Milliseconds since the epoch. */
  takenAt: number;
  flows: FlowShare[];
  visitors: VisitorShare[];
}

/** Addresses kept while the database is away; further ones are dropped, their bytes are not. */
const MAX_VISITORS = 100_000;
/** Addresses per batch, so that a statement ends in time even after a long absence of the database. */
const VISITORS_OF_BATCH = 10_000;

/** Counters that are not in the database yet. Their size depends on the number of resources, not on time. */
export class UnsentFlows {
  private readonly flows = new Map<string, FlowShare>();
  private readonly visitors = new Map<string, VisitorShare>();

  get empty(): boolean {
    return this.flows.size === 0 && this.visitors.size === 0;
  }

  /** Bytes in both directions that are not in the database yet. */
  bytesOf(kind: 'user' | 'client' | ResourceKind, id: number): number {
    let sum = 0;
    for (const flow of this.flows.values()) {
      const own = kind === 'user' ? flow.userId : kind === 'client' ? flow.clientId : flow.kind === kind ? flow.id : 0;
      if (own === id) sum = addCounts(sum, addCounts(flow.inlet, flow.export));
    }
    return sum;
  }

  add({ resource, clientId, upload, download, connections }: FlowDelta, userId: number): void {
    this.addFlow({ ...resource, clientId, userId, inlet: upload, export: download, connections });
  }

  /** Hits without an address are those beyond the limit. */
  addVisitor({ resource, clientId, address, hits }: VisitorHits, userId: number, lastSeen: number): void {
    if (address === null) return;
    const key = `${resource.kind} ${resource.id} ${clientId} ${userId} ${address}`;
    const known = this.visitors.get(key);
    if (known) {
      known.hits = addCounts(known.hits, hits);
      known.lastSeen = lastSeen;
    } else if (this.visitors.size < MAX_VISITORS) {
      this.visitors.set(key, { ...resource, clientId, userId, ip: address, hits, lastSeen });
    }
  }

  /** Takes all bytes, and as many addresses as a batch may have; the rest stays for the next. */
  takeBatch(now: number): FlowBatch {
    const visitors = [...this.visitors].slice(0, VISITORS_OF_BATCH);
    const batch: FlowBatch = {
      id: randomUUID(),
      takenAt: now,
      flows: [...this.flows.values()],
      visitors: visitors.map(([, share]) => share),
    };
    this.flows.clear();
    for (const [key] of visitors) this.visitors.delete(key);
    return batch;
  }

  private addFlow(share: FlowShare): void {
    // A tunnel may have moved to another client since then: both get their part.
    const key = `${share.kind} ${share.id} ${share.clientId} ${share.userId}`;
    const known = this.flows.get(key);
    if (!known) return void this.flows.set(key, share);
    known.inlet = addCounts(known.inlet, share.inlet);
    known.export = addCounts(known.export, share.export);
    known.connections = addCounts(known.connections, share.connections);
  }
}

/** For a batch that the database refuses. None of it was added, so its halves get new ids. */
export function halveBatch({ takenAt, flows, visitors }: FlowBatch): [FlowBatch, FlowBatch] | null {
  const shares = [...flows.map((flow) => ({ flow })), ...visitors.map((visitor) => ({ visitor }))];
  const halves = halveRows<(typeof shares)[number]>(shares);
  if (halves === null) return null;
  const [first, second] = halves.map((half) => ({
    id: randomUUID(),
    takenAt,
    flows: half.flatMap((share) => ('flow' in share ? [share.flow] : [])),
    visitors: half.flatMap((share) => ('visitor' in share ? [share.visitor] : [])),
  }));
  return first && second ? [first, second] : null;
}
