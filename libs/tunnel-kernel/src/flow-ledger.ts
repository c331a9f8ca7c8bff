import type { ByteCounter, RelayEnd, RelayEndReason, RelayHandle } from '@gatehouse/net';
import type { Endpoint } from './wire/prelude.js';

/** What is left of a connection at its end. */
export interface FlowRecord {
  tunnelId: number;
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

/** What a tunnel carried since it was last asked. */
export interface FlowDelta {
  upload: number;
  download: number;
  /** Connections begun. */
  connections: number;
}

/** A connection that runs. */
export interface Flow {
  readonly tunnelId: number;
  readonly clientId: number;
  readonly visitor: Endpoint;
  readonly startedAt: number;
  /** Counts while bytes flow. */
  readonly counter: ByteCounter;
  handle: RelayHandle | null;
}

interface CountedFlow extends Flow {
  reported: ByteCounter;
}

/** The connections that run, and what moved: deltas and records add up to the same bytes. */
export class FlowLedger {
  private readonly flows = new Set<CountedFlow>();
  private readonly settled = new Map<number, FlowDelta>();
  private readonly now: () => number;
  private readonly onClosed: (record: FlowRecord) => void;

  constructor(now: () => number, onClosed: (record: FlowRecord) => void) {
    this.now = now;
    this.onClosed = onClosed;
  }

  get size(): number {
    return this.flows.size;
  }

  open(tunnelId: number, clientId: number, visitor: Endpoint): Flow {
    const flow: CountedFlow = {
      tunnelId,
      clientId,
      visitor,
      startedAt: this.now(),
      counter: { upload: 0, download: 0 },
      handle: null,
      reported: { upload: 0, download: 0 },
    };
    this.flows.add(flow);
    this.deltaOf(this.settled, tunnelId).connections += 1;
    return flow;
  }

  close(flow: Flow, { reason }: Pick<RelayEnd, 'reason'>): void {
    if (!this.flows.delete(flow as CountedFlow)) return;
    this.settle(this.settled, flow as CountedFlow);
    const { tunnelId, clientId, visitor, startedAt, counter } = flow;
    this.onClosed({ tunnelId, clientId, visitor, startedAt, endedAt: this.now(), ...counter, reason });
  }

  *running(): Generator<Readonly<Flow>> {
    yield* this.flows;
  }

  /** By tunnel, what moved since the last call; tunnels where nothing did are left out. */
  takeDeltas(): Map<number, FlowDelta> {
    const deltas = new Map(this.settled);
    this.settled.clear();
    for (const flow of this.flows) this.settle(deltas, flow);
    return deltas;
  }

  /** Resets the connections that `which` names. */
  stop(which: (flow: Readonly<Flow>) => boolean): void {
    for (const flow of this.flows) if (which(flow)) flow.handle?.stop();
  }

  private settle(into: Map<number, FlowDelta>, { tunnelId, counter, reported }: CountedFlow): void {
    const upload = counter.upload - reported.upload;
    const download = counter.download - reported.download;
    if (upload === 0 && download === 0) return;
    const delta = this.deltaOf(into, tunnelId);
    delta.upload += upload;
    delta.download += download;
    reported.upload = counter.upload;
    reported.download = counter.download;
  }

  private deltaOf(deltas: Map<number, FlowDelta>, tunnelId: number): FlowDelta {
    const known = deltas.get(tunnelId);
    if (known) return known;
    const delta = { upload: 0, download: 0, connections: 0 };
    deltas.set(tunnelId, delta);
    return delta;
  }
}
