import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { guardPromise } from '@gatehouse/net';
import type { Queries } from '../../common/edge-database.js';
import type { EdgePlace, WorkerPlace } from '../../common/edge-ipc.js';
import {
  readLeases,
  releaseLease,
  renewLease,
  sweepLeases,
  type EdgeLease,
  type EdgeState,
  type KnownLease,
  type WantedState,
} from '../../common/edge-leases.js';
import { Reloading } from '../reloading.js';

/** A fifth of a lease: it survives a few failures. */
const RENEW_MS = 2_000;

/** Addresses under which this process is reached; null where it is not. */
export type EdgeAddresses = Pick<
  EdgeLease,
  'publicAgents' | 'publicHttp' | 'publicHttps' | 'peerAddress' | 'agentsAddress'
>;
export type EdgeFigures = Pick<EdgeLease, 'revision' | 'agents' | 'connections'>;

const NOWHERE: EdgeAddresses = {
  publicAgents: null,
  publicHttp: null,
  publicHttps: null,
  peerAddress: null,
  agentsAddress: null,
};

export interface EdgeMemberOptions {
  /** Id of this process. */
  id: string;
  queries: Queries;
  place: EdgePlace;
  worker: WorkerPlace | null;
  figures: () => EdgeFigures;
  /** This process has a lease that it did not have before: its states count from now on, and must be written. */
  onLease: () => void;
  /** What an administrator wants of this edge; called after each renewal. */
  onWanted: (wanted: WantedState) => void;
  /** The other processes that have a lease, whenever they may have changed. */
  onOthers: (others: readonly KnownLease[]) => void;
  onFailure: (error: unknown) => void;
  onSuccess: () => void;
}

/**
 * This process as a member of the fleet: it renews its lease in the database and knows the leases of others. Without the
 * database it continues to serve, and knows those that it knew before.
 */
export class EdgeMember {
  private readonly options: EdgeMemberOptions;
  private readonly renewing: Reloading;
  private readonly reading: Reloading;
  private timer: NodeJS.Timeout | null = null;
  private state: EdgeState = 'starting';
  private addresses = NOWHERE;
  private busy: EventLoopUtilization = performance.eventLoopUtilization();
  private leased = false;

  constructor(options: EdgeMemberOptions) {
    const { onFailure } = options;
    this.options = options;
    this.renewing = new Reloading({ load: () => this.renewOnce(), onFailure });
    this.reading = new Reloading({ load: () => this.readOnce(), onFailure });
  }

  /** Takes the lease and keeps it. Resolves after the first attempt. */
  async join(): Promise<void> {
    this.timer ??= setInterval(() => guardPromise(null, this.renew()), RENEW_MS);
    await this.renew();
  }

  /** Publishes a state, and addresses if they are given. Resolves after the attempt; the next renewal repeats it. */
  async become(state: EdgeState, addresses: EdgeAddresses = this.addresses): Promise<void> {
    this.state = state;
    this.addresses = addresses;
    await this.renew();
  }

  /** Leases may have changed. */
  async news(): Promise<void> {
    // Whoever changed them may want something of this edge.
    await Promise.all([this.reading.news(), this.renew()]);
  }

  /** Another process removed this one's lease, for example after a long stall. */
  lost(): void {
    guardPromise(null, this.renew());
  }

  /** Ends the lease. `replaced`: by a process that serves already. @throws Error of the database: the lease then expires. */
  async leave(replaced: boolean): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await Promise.all([this.renewing.stop(), this.reading.stop()]);
    if (this.leased) await releaseLease(this.options.queries, this.options.id, replaced);
  }

  private renew(): Promise<void> {
    return this.renewing.news();
  }

  private async renewOnce(): Promise<void> {
    const { queries, onLease, onWanted, onSuccess } = this.options;
    const { fresh, wanted, expired } = await renewLease(queries, this.lease());
    this.leased = true;
    onSuccess();
    if (fresh) onLease();
    onWanted(wanted);
    if (expired) await sweepLeases(queries);
  }

  private async readOnce(): Promise<void> {
    const leases = await readLeases(this.options.queries);
    this.options.onOthers(leases.filter(({ id }) => id !== this.options.id));
  }

  private lease(): EdgeLease {
    const { place, worker, figures } = this.options;
    const busy = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(busy, this.busy);
    this.busy = busy;
    return {
      id: this.options.id,
      edge: place.edge,
      name: place.name,
      version: place.version,
      worker: worker?.index ?? 0,
      workers: worker?.count ?? 1,
      pid: process.pid,
      state: this.state,
      ...this.addresses,
      ...figures(),
      load: Math.round(utilization * 1_000) / 1_000,
    };
  }
}
