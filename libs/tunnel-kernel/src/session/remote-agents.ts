import { setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import type { ChannelTicket } from '../wire/messages.js';
import { ChannelPool, type PoolOptions } from './channel-pool.js';
import type { TicketTable } from './ticket-table.js';

/** Interval at which idle channels are reduced, as a heartbeat does for those of local agents. */
export const REMOTE_SWEEP_MS = 10_000;

/** Interval at which the server of an agent is told of visitors: it then watches the agent for longer than that. */
const TELL_MS = 2_000;
/** As long as the agent's own server waits. */
const LOST_MS = 2_500;

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
  /** Whether it takes records of `MAX_RECORD_BYTES`. */
  longRecords: boolean;
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
  /** Visitors of this server need the agent, and should learn when it falls silent. */
  visited(agent: RemoteAgent): void;
}

type Left = Pick<RemoteAgent, 'clientId' | 'key'> & { silent?: boolean };

interface Entry {
  server: RemoteServer;
  agent: RemoteAgent;
  /** Created for the first visitor. */
  pool: ChannelPool | null;
  /** When its server was last told of visitors. */
  toldAt: number;
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

  /** Those of all of the client's agents, in turn. */
  poolsOf(clientId: number): ChannelPool[] {
    const entries = this.clients.get(clientId) ?? NONE;
    const first = entries.length === 0 ? 0 : (this.turn += 1) % entries.length;
    return [...entries.slice(first), ...entries.slice(0, first)].map((entry) => entry.pool ?? this.open(entry));
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
    this.clients.set(agent.clientId, [...entries, { server, agent, pool: null, toldAt: 0 }]);
    return true;
  }

  /** False: it was not known. */
  left(server: RemoteServer, { clientId, key, silent = false }: Left): boolean {
    return this.remove(clientId, (entry) => entry.server === server && entry.agent.key === key, silent);
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
      longRecords: agent.longRecords,
      quiet: true,
      firstByte: server.worker,
      deliver: (tickets) => server.lend(agent, tickets),
      visited: () => this.tell(entry),
    });
    entry.pool = pool;
    this.pools.add(pool);
    return pool;
  }

  private tell(entry: Entry): void {
    const now = this.options.now();
    if (Math.abs(now - entry.toldAt) < TELL_MS) return;
    entry.toldAt = now;
    entry.server.visited(entry.agent);
  }

  private remove(clientId: number, isGone: (entry: Entry) => boolean, silent = false): boolean {
    const entries = this.clients.get(clientId) ?? NONE;
    const kept = entries.filter((entry) => !isGone(entry));
    if (kept.length === entries.length) return false;
    if (kept.length > 0) this.clients.set(clientId, kept);
    else this.clients.delete(clientId);
    for (const { pool } of entries.filter(isGone)) {
      if (!pool) continue;
      this.pools.delete(pool);
      // Visitors who came in vain are not left waiting, unless it speaks again.
      if (silent && this.clients.has(clientId)) setFlowTimeout(null, () => pool.abandon(), LOST_MS).unref();
      pool.close(new TunnelError('offline', 'the agent is gone from the server that it was connected to'));
    }
    return true;
  }
}
