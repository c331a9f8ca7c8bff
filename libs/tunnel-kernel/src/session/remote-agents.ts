import { TunnelError } from '../errors.js';
import type { ChannelTicket } from '../wire/messages.js';
import { ChannelPool, type PoolOptions } from './channel-pool.js';
import type { TicketTable } from './ticket-table.js';

/** Interval at which idle channels are reduced, as a heartbeat does for those of local agents. */
export const REMOTE_SWEEP_MS = 10_000;

/** An agent that is connected to another server of the gateway. */
export interface RemoteAgent {
  /** Unique among the agents of its server. */
  key: number;
  clientId: number;
  /** As in its `auth` message. */
  agentId: string;
  slot: number;
  epoch: number;
  replica: boolean;
  /** Whether its data channels are sealed. */
  sealed: boolean;
  /** When it connected: milliseconds since the epoch, by the clock of its server. */
  since: number;
}

/** The server that an agent is connected to. */
export interface RemoteServer {
  readonly id: string;
  /** Its index among several workers: the first byte of tickets that it passes on. Null: the only one. */
  readonly worker: number | null;
  /** Sends tickets of ours to the agent; its channels are then passed on to this server. */
  lend(agent: RemoteAgent, tickets: ChannelTicket[]): void;
}

interface Entry {
  server: RemoteServer;
  agent: RemoteAgent;
  /** Created for the first visitor. */
  pool: ChannelPool | null;
}

const NONE: readonly Entry[] = [];

/**
 * Agents that are connected to other servers of the gateway. Visitors of their clients are served over data channels that
 * the agent opens to its own server, which passes them on: they are sealed from here to the agent.
 */
export class RemoteAgents {
  private readonly tickets: TicketTable;
  private readonly options: Pick<PoolOptions, 'limits' | 'now'>;
  private readonly clients = new Map<number, Entry[]>();
  private readonly pools = new Set<ChannelPool>();
  private turn = 0;

  constructor(tickets: TicketTable, options: Pick<PoolOptions, 'limits' | 'now'>) {
    this.tickets = tickets;
    this.options = options;
  }

  has(clientId: number): boolean {
    return this.clients.has(clientId);
  }

  /** The agents in turn. Null: none is connected. */
  poolOf(clientId: number): ChannelPool | null {
    const entries = this.clients.get(clientId) ?? NONE;
    const entry = entries[(this.turn += 1) % entries.length];
    return entry ? (entry.pool ?? this.open(entry)) : null;
  }

  /** Number of visitors that wait for a channel. */
  get waiting(): number {
    let total = 0;
    for (const pool of this.pools) total += pool.waitingCount;
    return total;
  }

  /** False: it was known already. */
  came(server: RemoteServer, agent: RemoteAgent): boolean {
    const entries = this.clients.get(agent.clientId) ?? NONE;
    if (entries.some((entry) => entry.server === server && entry.agent.key === agent.key)) return false;
    this.clients.set(agent.clientId, [...entries, { server, agent, pool: null }]);
    return true;
  }

  /** False: it was not known. */
  left(server: RemoteServer, { clientId, key }: Pick<RemoteAgent, 'clientId' | 'key'>): boolean {
    return this.remove(clientId, (entry) => entry.server === server && entry.agent.key === key);
  }

  /** The server has ended, or is not reached. Returns the clients whose agents it had. */
  serverLeft(server: RemoteServer): number[] {
    return [...this.clients.keys()].filter((id) => this.remove(id, (entry) => entry.server === server));
  }

  /** Must be called every `REMOTE_SWEEP_MS`. */
  sweep(): void {
    for (const pool of this.pools) pool.sweep();
  }

  private open(entry: Entry): ChannelPool {
    const { server, agent } = entry;
    const pool = new ChannelPool({
      ...this.options,
      tickets: this.tickets,
      sealed: agent.sealed,
      quiet: true,
      firstByte: server.worker,
      deliver: (tickets) => server.lend(agent, tickets),
    });
    entry.pool = pool;
    this.pools.add(pool);
    return pool;
  }

  private remove(clientId: number, isGone: (entry: Entry) => boolean): boolean {
    const entries = this.clients.get(clientId) ?? NONE;
    const kept = entries.filter((entry) => !isGone(entry));
    if (kept.length === entries.length) return false;
    if (kept.length > 0) this.clients.set(clientId, kept);
    else this.clients.delete(clientId);
    for (const { pool } of entries.filter(isGone)) {
      if (!pool) continue;
      this.pools.delete(pool);
      pool.close(new TunnelError('offline', 'the agent is gone from the server that it was connected to'));
    }
    return true;
  }
}
