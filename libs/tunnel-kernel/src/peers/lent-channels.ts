import {
  guardPromise,
  relay,
  resetStream,
  reuseMemory,
  setFlowTimeout,
  type ByteStream,
  type RelayHandle,
} from '@gatehouse/net';
import { systemDialer } from '../dial.js';
import type { HostAndPort } from '../environment.js';
import type { ChannelTicket } from '../wire/messages.js';
import { encodePassed } from '../wire/passed-opening.js';

/** Both servers are in one network. */
const CONNECT_MS = 5_000;

/** Another server, whose visitors use data channels of agents of this one. */
export interface Borrower {
  readonly id: string;
  /** Its index among several workers. Null: the only one. */
  readonly worker: number | null;
  /** Its port for agents, as this server reaches it. */
  readonly agents: HostAndPort;
}

/**
 * Data channels that agents of this server open for visitors of other servers. This server only copies their bytes: the
 * other server issued their tickets, checks their openings and has their keys.
 */
export class LentChannels {
  private readonly lifetimeMs: number;
  /** By the id of the ticket, hex. */
  private readonly tickets = new Map<string, Borrower>();
  private readonly open = new Map<string, { borrower: Borrower; handle: RelayHandle | null }>();
  private readonly onEmpty = new Set<() => void>();
  private readonly issuerOf: (ticketId: string) => Borrower | undefined;

  /**
   * `lifetimeMs`: of tickets that no channel has used. `issuerOf`: the other server whose ticket it is, where a load
   * balancer led the agent here.
   */
  constructor(lifetimeMs: number, issuerOf: (ticketId: string) => Borrower | undefined) {
    this.lifetimeMs = lifetimeMs;
    this.issuerOf = issuerOf;
  }

  /** Number of channels. */
  get size(): number {
    return this.open.size;
  }

  /** Expects channels with these tickets, which this server sends to its agent. */
  expect(tickets: readonly ChannelTicket[], borrower: Borrower): void {
    const ids = tickets.map(({ id }) => id.toString('hex'));
    for (const id of ids) this.tickets.set(id, borrower);
    setFlowTimeout(null, () => ids.forEach((id) => this.tickets.delete(id)), this.lifetimeMs).unref();
  }

  /** The server whose visitors use the channel with this ticket. */
  borrowerOf(ticketId: string): Borrower | undefined {
    return this.open.get(ticketId)?.borrower;
  }

  /**
   * Passes a channel on to the server that issued its ticket. `opening`: the bytes that were read from it. False: it is
   * not lent.
   */
  passOn(ticketId: string, opening: Buffer, stream: ByteStream): boolean {
    const borrower = this.tickets.get(ticketId) ?? this.issuerOf(ticketId);
    if (!borrower || this.open.has(ticketId)) return false;
    this.tickets.delete(ticketId);
    this.open.set(ticketId, { borrower, handle: null });
    guardPromise(stream, this.connect(ticketId, borrower, opening, stream));
    return true;
  }

  /** Resolves when all channels have ended, or after `timeoutMs`. */
  async ended(timeoutMs: number): Promise<void> {
    if (this.open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setFlowTimeout(null, done, timeoutMs);
      const { onEmpty } = this;
      onEmpty.add(done);
      function done(): void {
        clearTimeout(timer);
        onEmpty.delete(done);
        resolve();
      }
    });
  }

  /** Resets all channels. */
  stop(): void {
    this.tickets.clear();
    for (const { handle } of this.open.values()) handle?.stop();
  }

  private async connect(id: string, { agents, worker }: Borrower, opening: Buffer, stream: ByteStream): Promise<void> {
    try {
      const socket = await systemDialer.server(agents, CONNECT_MS);
      reuseMemory(stream);
      const head = Buffer.concat([encodePassed(worker), opening]);
      const handle = relay(stream, socket, { upload: 0, download: 0 }, { head, onClose: () => this.closed(id) });
      const entry = this.open.get(id);
      if (entry) entry.handle = handle;
    } catch {
      // The other server is gone, or is not reached: the agent opens another channel when it is asked for one.
      resetStream(stream);
      this.closed(id);
    }
  }

  private closed(id: string): void {
    this.open.delete(id);
    if (this.open.size === 0) for (const done of this.onEmpty) done();
  }
}
