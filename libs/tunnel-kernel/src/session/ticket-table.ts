import { createHash, randomBytes } from 'node:crypto';
import type { ByteStream } from '@gatehouse/net';
import { setFlowTimeout } from '@gatehouse/net';
import type { ChannelTicket } from '../wire/messages.js';
import { openingHolds, openingIsSealed, openingTicketId } from '../wire/prelude.js';

const TICKET_BYTES = 48;
const ID_BYTES = 16;
const TAG_BYTES = 4;

/** The tag of the server with this id. */
export function serverTag(id: string): Buffer {
  return createHash('sha256').update(id).digest().subarray(0, TAG_BYTES);
}

/** The tag in the id of a ticket, hex; both are. */
export function tagOfTicket(ticketId: string): string {
  return ticketId.slice(2, 2 + 2 * TAG_BYTES);
}

/** Receives the channels that its tickets open. */
export interface TicketHolder {
  /** Whether its channels are sealed; unsealed ones are then refused. */
  readonly sealed: boolean;
  /** Whether its agent takes records of `MAX_RECORD_BYTES`. */
  readonly longRecords: boolean;
  admit(ticket: ChannelTicket, stream: ByteStream): void;
  expired(count: number): void;
}

/** Unused tickets of agents. Each opens one channel for one holder, within its lifetime. */
export class TicketTable {
  private readonly open = new Map<string, { ticket: ChannelTicket; holder: TicketHolder }>();
  private readonly lifetimeMs: number;
  private readonly worker: number | null;
  private readonly tag: Buffer | null;

  /**
   * `worker`: index of this process among several. It becomes the first byte of all ids. `tag`: of this server, behind the
   * first byte: others know by it where a channel belongs that a load balancer led to them.
   */
  constructor(lifetimeMs: number, worker: number | null = null, tag: Buffer | null = null) {
    this.lifetimeMs = lifetimeMs;
    this.worker = worker;
    this.tag = tag;
  }

  get size(): number {
    return this.open.size;
  }

  /** `firstByte`: of all ids, for a server that passes them on. Absent: as given to the constructor. */
  issue(holder: TicketHolder, count: number, firstByte: number | null = this.worker): ChannelTicket[] {
    const random = randomBytes(count * TICKET_BYTES);
    if (firstByte !== null) for (let at = 0; at < random.length; at += TICKET_BYTES) random[at] = firstByte;
    if (this.tag) for (let at = 0; at < random.length; at += TICKET_BYTES) this.tag.copy(random, at + 1);
    const tickets = Array.from({ length: count }, (_, index) => {
      const at = index * TICKET_BYTES;
      return { id: random.subarray(at, at + ID_BYTES), key: random.subarray(at + ID_BYTES, at + TICKET_BYTES) };
    });
    const ids = tickets.map((ticket) => ticket.id.toString('hex'));
    for (const [index, ticket] of tickets.entries()) this.open.set(ids[index] ?? '', { ticket, holder });
    setFlowTimeout(null, () => this.expire(ids, holder), this.lifetimeMs).unref();
    return tickets;
  }

  /**
   * The holder of the ticket that an opening proves, and the ticket, which is used up. Null for a ticket that is not
   * there (never issued, used, expired, revoked), for a channel of the other kind and for a wrong proof. @throws
   * TunnelError `protocol`.
   */
  redeem(opening: Buffer): { ticket: ChannelTicket; holder: TicketHolder } | null {
    const id = openingTicketId(opening);
    const entry = this.open.get(id);
    if (!entry || openingIsSealed(opening) !== entry.holder.sealed) return null;
    if (!openingHolds(opening, entry.ticket)) return null;
    this.open.delete(id);
    return entry;
  }

  revoke(holder: TicketHolder): void {
    for (const [id, entry] of this.open) if (entry.holder === holder) this.open.delete(id);
  }

  private expire(ids: readonly string[], holder: TicketHolder): void {
    const gone = ids.filter((id) => this.open.delete(id)).length;
    if (gone > 0) holder.expired(gone);
  }
}
