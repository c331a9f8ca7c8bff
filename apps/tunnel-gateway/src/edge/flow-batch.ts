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

/** How often an address came to a resource. */
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

/** What was counted in one go. The same batch counts once, however often it is sent. */
export interface FlowBatch {
  id: string;
  /** Milliseconds since the epoch. */
  takenAt: number;
  flows: FlowShare[];
  visitors: VisitorShare[];
}

/** Addresses that are kept while the database is away; those beyond are not remembered, their bytes are. */
const MAX_VISITORS = 100_000;
/** Addresses of one batch: a statement must end in time, however many came while the database was away. */
const VISITORS_OF_BATCH = 10_000;

/** What was counted and is not in the database yet: as large as there are resources, however long that takes. */
export class UnsentFlows {
  private readonly flows = new Map<string, FlowShare>();
  private readonly visitors = new Map<string, VisitorShare>();

  get empty(): boolean {
    return this.flows.size === 0 && this.visitors.size === 0;
  }

  add({ resource, clientId, upload, download, connections }: FlowDelta, userId: number): void {
    this.addFlow({ ...resource, clientId, userId, inlet: upload, export: download, connections });
  }

  /** Hits without an address are of those for which there was no room. */
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

  /** All bytes, and as many addresses as one batch may have; the others are left for the next. */
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
    // A tunnel may have gone to another client since: both get their part.
    const key = `${share.kind} ${share.id} ${share.clientId} ${share.userId}`;
    const known = this.flows.get(key);
    if (!known) return void this.flows.set(key, share);
    known.inlet = addCounts(known.inlet, share.inlet);
    known.export = addCounts(known.export, share.export);
    known.connections = addCounts(known.connections, share.connections);
  }
}

/** For a batch that the database refuses: it was added to nothing, so its parts get ids of their own. */
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
