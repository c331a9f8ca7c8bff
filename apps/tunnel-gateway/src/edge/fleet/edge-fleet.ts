import { formatHostPort, guardPromise } from '@gatehouse/net';
import type { TunnelLogger, TunnelServer, TunnelState } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../../common/edge-database.js';
import type { EdgeOptions, EdgePorts } from '../../common/edge-ipc.js';
import type { KnownLease, WantedState } from '../../common/edge-leases.js';
import type { DatabasePresence } from '../database-presence.js';
import { RunStatusWriter } from '../run-status.js';
import { EdgePeers } from './edge-peers.js';
import { EdgeMember, type EdgeAddresses, type EdgeFigures } from './edge-member.js';

export interface EdgeFleetParts {
  /** Id of this process. */
  id: string;
  server: TunnelServer;
  logger: TunnelLogger;
  queries: Queries;
  presence: DatabasePresence;
  figures: () => EdgeFigures;
  /** Whose tunnels this process reports about; null: all. */
  clients: () => number[] | null;
  /** States of tunnels must be reported now. */
  onReport: () => void;
  /** An administrator wants this edge to be something else than it is. */
  onWanted: (wanted: WantedState) => void;
}

/** This process among all edges of the database: its lease, what it says about tunnels, and those it knows. */
export class EdgeFleet {
  private readonly options: Pick<EdgeOptions, 'place' | 'publicHttpsPort'>;
  private readonly parts: EdgeFleetParts;
  private readonly member: EdgeMember;
  private readonly states: RunStatusWriter;
  /** Whether it accepts nobody because an administrator wants so. */
  retired = false;
  private draining = false;
  /** Null: not read yet. */
  private others: readonly KnownLease[] | null = null;
  /** The public address for agents, while this process serves. */
  private publicAgents: string | null = null;
  readonly peers: EdgePeers;

  constructor(options: Pick<EdgeOptions, 'place' | 'publicHttpsPort' | 'worker'>, parts: EdgeFleetParts) {
    const { id, queries, presence, figures, clients, onReport } = parts;
    this.options = options;
    this.parts = parts;
    this.peers = new EdgePeers(options, parts.server, parts.logger);
    this.member = new EdgeMember({
      id,
      queries,
      place: options.place,
      worker: options.worker,
      figures,
      onLease: () => {
        this.states.invalidate();
        onReport();
      },
      onWanted: (wanted) => this.wanted(wanted),
      onOthers: (others) => {
        this.others = others;
        this.peers.apply(others, this.publicAgents);
      },
      onFailure: presence.failed,
      onSuccess: () => presence.answered(),
    });
    this.states = new RunStatusWriter({
      queries,
      processId: id,
      clients,
      onUnleased: () => this.member.lost(),
    });
  }

  /** Takes the lease. Resolves after the first attempt. */
  join(): Promise<void> {
    return this.member.join();
  }

  /** Publishes where it serves, once other edges can connect. */
  serve(ports: EdgePorts): void {
    guardPromise(null, this.publish(ports));
  }

  /** Accepts nobody from now on. */
  drain(): void {
    if (this.draining) return;
    this.draining = true;
    this.publicAgents = null;
    this.peers.apply(this.others, null);
    guardPromise(null, this.member.become('draining'));
  }

  /** An administrator wants it drained: `done` resolves when it is. */
  async retire(done: Promise<void>): Promise<void> {
    this.retired = true;
    await done;
    await this.states.clear().catch(this.parts.presence.failed);
    await this.member.become('drained');
  }

  /** Leases may have changed. */
  news(): void {
    guardPromise(null, this.member.news());
  }

  /** @throws Error of the database */
  report(states: readonly TunnelState[]): Promise<void> {
    return this.states.write(states);
  }

  /** The next report is written as a whole. */
  invalidate(): void {
    this.states.invalidate();
  }

  /** Ends the lease, and with it what this process said. `replaced`: another process of this edge continues. */
  async leave(replaced: boolean): Promise<void> {
    await this.member.leave(replaced).catch(this.parts.presence.failed);
  }

  private wanted(wanted: WantedState): void {
    const isSo = wanted === 'drained' ? this.draining : !this.retired;
    if (!isSo) this.parts.onWanted(wanted);
  }

  private async publish(ports: EdgePorts): Promise<void> {
    const reached = (await this.peers.open(ports)) ?? { peerAddress: null, agentsAddress: null };
    if (this.draining) return;
    const addresses = { ...this.addressesOf(ports), ...reached };
    this.publicAgents = addresses.publicAgents;
    this.peers.apply(this.others, this.publicAgents);
    await this.member.become('serving', addresses);
  }

  private addressesOf({ agents, http, https }: EdgePorts): Omit<EdgeAddresses, 'peerAddress' | 'agentsAddress'> {
    const { place, publicHttpsPort } = this.options;
    const at = (port: number): string | null => place.publicHost && formatHostPort(place.publicHost, port);
    return {
      publicAgents: at(agents),
      publicHttp: at(http),
      publicHttps: at(publicHttpsPort ?? https),
    };
  }
}
