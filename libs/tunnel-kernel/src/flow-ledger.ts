import {
  addCounts,
  type ByteCounter,
  guarded,
  type RelayEnd,
  type RelayEndReason,
  type RelayHandle,
  type Throttle,
} from '@gatehouse/net';
import { resourceKey, type ResourceRef } from './resource.js';
import type { Asked } from './access/request-condition.js';
import type { VisitorLedger } from './visitor-ledger.js';
import type { Endpoint } from './base/endpoint.js';

/** The summary of a connection at its end. */
export interface FlowRecord {
  resource: ResourceRef;
  clientId: number;
  visitor: Endpoint;
  /** Milliseconds since the epoch. */
  startedAt: number;
  endedAt: number;
  /** Bytes from the visitor. */
  upload: number;
  /** Bytes to the visitor. */
  download: number;
  /** `client` is the visitor's side, `remote` the target's. */
  reason: RelayEndReason;
}

/** What a resource carried since the last call. */
export interface FlowDelta {
  resource: ResourceRef;
  clientId: number;
  upload: number;
  download: number;
  /** Connections that began. */
  connections: number;
}

/** A running connection. */
export interface Flow {
  readonly resource: ResourceRef;
  readonly clientId: number;
  readonly visitor: Endpoint;
  /** The request that it carries. */
  readonly asked: Asked;
  readonly startedAt: number;
  /** Counts bytes as they flow. */
  readonly counter: ByteCounter;
  /** Stops or throttles the flow. Null before bytes flow. */
  handle: FlowHandle | null;
}

/** A flow without a relay may leave out `limit` if it asks for its throttle before each part. */
export type FlowHandle = Pick<RelayHandle, 'stop'> &
  Partial<Pick<RelayHandle, 'limit'>> & {
    /** The way to the target is silent: begins again on another one if nothing is lost or done twice by it. */
    elsewhere?(): void;
  };

interface CountedFlow extends Flow {
  reported: ByteCounter;
  /** Its index among the running flows; -1: it is over. */
  place: number;
}

export interface FlowLedgerOptions {
  /** Every new flow counts as one hit of its visitor. */
  visitors?: VisitorLedger;
  /** Called once at the start: a visitor may have lost its admission while it waited for a channel. */
  mayRun?: (flow: Readonly<Flow>) => boolean;
}

/** All running connections and their counters: deltas and records add up to the same bytes. */
export class FlowLedger {
  /**
   * An array and not a Set: thousands of flows come and go within a second. Each time a Set grows, its old table keeps
   * the flows of that moment alive until the next full collection.
   */
  private readonly flows: CountedFlow[] = [];
  private readonly settled = new Map<string, FlowDelta>();
  private readonly now: () => number;
  private readonly onClosed: (record: FlowRecord) => void;
  private readonly options: FlowLedgerOptions;

  constructor(now: () => number, onClosed: (record: FlowRecord) => void, options: FlowLedgerOptions = {}) {
    this.now = now;
    this.onClosed = onClosed;
    this.options = options;
  }

  get size(): number {
    return this.flows.length;
  }

  /** `connections`: 0 for a flow that carries several, which `carried` counts. */
  open(resource: ResourceRef, clientId: number, visitor: Endpoint, connections = 1, asked?: Asked): Flow {
    const flow: CountedFlow = {
      resource,
      clientId,
      visitor,
      asked,
      startedAt: this.now(),
      counter: { upload: 0, download: 0 },
      handle: null,
      reported: { upload: 0, download: 0 },
      place: this.flows.length,
    };
    this.flows.push(flow);
    if (connections > 0) this.countConnections(flow, connections);
    const { mayRun } = this.options;
    // The owner sets the handle within this turn.
    if (mayRun && !mayRun(flow)) setImmediate(guarded(null, () => flow.handle?.stop()));
    return flow;
  }

  /** Adds what another party counted for a running flow. */
  carried(flow: Flow, { upload, download, connections }: Omit<FlowDelta, 'resource' | 'clientId'>): void {
    if ((flow as CountedFlow).place < 0) return;
    flow.counter.upload = addCounts(flow.counter.upload, upload);
    flow.counter.download = addCounts(flow.counter.download, download);
    if (connections > 0) this.countConnections(flow, connections);
  }

  close(flow: Flow, { reason }: Pick<RelayEnd, 'reason'>): void {
    if (!this.remove(flow as CountedFlow)) return;
    this.settle(this.settled, flow as CountedFlow);
    const { resource, clientId, visitor, startedAt, counter } = flow;
    this.onClosed({ resource, clientId, visitor, startedAt, endedAt: this.now(), ...counter, reason });
  }

  /** A copy, so that flows may end while the caller iterates. */
  running(): readonly Readonly<Flow>[] {
    return [...this.flows];
  }

  /** What was carried since the last call; resources without traffic are left out. */
  takeDeltas(): FlowDelta[] {
    const deltas = new Map(this.settled);
    this.settled.clear();
    for (const flow of this.flows) this.settle(deltas, flow);
    return [...deltas.values()];
  }

  /** What the next `takeDeltas` would return now, in parts. */
  *pendingDeltas(): Iterable<FlowDelta> {
    yield* this.settled.values();
    for (const { resource, clientId, counter, reported } of this.flows) {
      const upload = counter.upload - reported.upload;
      const download = counter.download - reported.download;
      if (upload > 0 || download > 0) yield { resource, clientId, upload, download, connections: 0 };
    }
  }

  /** Changes the throttle of the running connections that `which` selects. */
  limit(which: (flow: Readonly<Flow>) => boolean, throttleOf: (flow: Readonly<Flow>) => Throttle | null): void {
    for (const flow of this.running()) if (which(flow)) flow.handle?.limit?.(throttleOf(flow));
  }

  /** The way of the connections that `which` selects is silent. */
  elsewhere(which: (flow: Readonly<Flow>) => boolean): void {
    for (const flow of this.running()) if (which(flow)) flow.handle?.elsewhere?.();
  }

  /** Resets the connections that `which` selects. */
  stop(which: (flow: Readonly<Flow>) => boolean): void {
    for (const flow of this.running()) if (which(flow)) flow.handle?.stop();
  }

  /** The last flow takes the place of the removed one. */
  private remove(flow: CountedFlow): boolean {
    const { place } = flow;
    if (place < 0) return false;
    const last = this.flows.pop();
    if (last && last !== flow) {
      this.flows[place] = last;
      last.place = place;
    }
    flow.place = -1;
    return true;
  }

  private countConnections(flow: Flow, connections: number): void {
    this.deltaOf(this.settled, flow).connections += connections;
    this.options.visitors?.hit(flow.resource, flow.clientId, flow.visitor.address, connections);
  }

  private settle(into: Map<string, FlowDelta>, flow: CountedFlow): void {
    const { counter, reported } = flow;
    const upload = counter.upload - reported.upload;
    const download = counter.download - reported.download;
    if (upload === 0 && download === 0) return;
    const delta = this.deltaOf(into, flow);
    delta.upload = addCounts(delta.upload, upload);
    delta.download = addCounts(delta.download, download);
    reported.upload = counter.upload;
    reported.download = counter.download;
  }

  private deltaOf(deltas: Map<string, FlowDelta>, { resource, clientId }: Flow): FlowDelta {
    const key = resourceKey(resource);
    const known = deltas.get(key);
    if (known) return known;
    const delta = { resource, clientId, upload: 0, download: 0, connections: 0 };
    deltas.set(key, delta);
    return delta;
  }
}
