import { resetStream, type ByteStream } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { MAX_TICKETS } from '../wire/codec.js';
import type { ChannelTicket } from '../wire/messages.js';
import type { TicketBook, TicketHolder } from './ticket-book.js';

export interface PoolLimits {
  /** Idle channels of a client that is in use, at least. */
  start: number;
  /** Idle channels, at most. */
  cap: number;
  /** Visitors that wait for a channel, at most. */
  waiting: number;
  /** An idle channel older than this is replaced: what lies between may have forgotten it. */
  idleMs: number;
  /** A client without a visitor for this long keeps no idle channels. */
  quietMs: number;
}

export const DEFAULT_POOL_LIMITS: PoolLimits = { start: 4, cap: 64, waiting: 4096, idleMs: 20_000, quietMs: 60_000 };

/** A data channel that nobody uses yet. */
export interface Channel {
  stream: ByteStream;
  /** Of the ticket that opened it: binds the start to it. */
  key: Buffer;
  /** Id of the ticket, hex. */
  id: string;
}

interface IdleChannel extends Channel {
  since: number;
  /** Takes the pool's listeners off. */
  release(): void;
}

interface Waiter {
  resolve(channel: Channel): void;
  reject(error: TunnelError): void;
  timer: NodeJS.Timeout;
}

/**
 * The idle data channels of one session. As many are kept as the demand shows: twice as many after a visitor had to
 * wait, fewer while none has to, none while nobody comes.
 */
export class ChannelPool implements TicketHolder {
  private readonly book: TicketBook;
  private readonly limits: PoolLimits;
  private readonly now: () => number;
  private readonly deliver: (tickets: ChannelTicket[]) => void;
  private readonly idle: IdleChannel[] = [];
  private readonly waiters = new Set<Waiter>();
  private pending = 0;
  private target: number;
  private missed = false;
  private grown = false;
  private usedAt: number;
  private refilling = false;
  private closedBy: TunnelError | null = null;

  /** `deliver`: sends tickets to the agent. */
  constructor(book: TicketBook, limits: PoolLimits, now: () => number, deliver: (tickets: ChannelTicket[]) => void) {
    this.book = book;
    this.limits = limits;
    this.now = now;
    this.deliver = deliver;
    this.target = limits.start;
    this.usedAt = now();
    this.refillSoon();
  }

  get idleCount(): number {
    return this.idle.length;
  }

  /** The newest idle channel, or null: then `wait`. */
  take(): Channel | null {
    this.usedAt = this.now();
    this.target = Math.max(this.target, this.limits.start);
    this.refillSoon();
    const channel = this.idle.pop();
    if (!channel) return null;
    channel.release();
    return channel;
  }

  /** @throws TunnelError `timeout`, `overloaded`, or what closed the pool. */
  wait(timeoutMs: number): Promise<Channel> {
    return new Promise((resolve, reject) => {
      if (this.closedBy) return reject(this.closedBy);
      if (this.waiters.size >= this.limits.waiting) {
        return reject(new TunnelError('overloaded', 'too many visitors wait for a data channel'));
      }
      const timer = setTimeout(() => {
        this.waiters.delete(waiter);
        reject(new TunnelError('timeout', `the agent opened no data channel within ${timeoutMs} ms`));
      }, timeoutMs);
      const waiter: Waiter = { resolve, reject, timer };
      this.waiters.add(waiter);
      this.grow();
      this.refillSoon();
    });
  }

  admit(ticket: ChannelTicket, stream: ByteStream): void {
    this.pending -= 1;
    const channel = { stream, key: ticket.key, id: ticket.id.toString('hex') };
    if (this.closedBy) return resetStream(stream);
    const [waiter] = this.waiters;
    if (waiter) {
      this.waiters.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.resolve(channel);
    } else this.keep(channel);
    this.refillSoon();
  }

  expired(count: number): void {
    this.pending -= count;
    this.refillSoon();
  }

  /** To be called now and then: lets go of what is too old or too many. */
  sweep(): void {
    const now = this.now();
    if (now - this.usedAt >= this.limits.quietMs) this.target = 0;
    else if (!this.missed) this.target = Math.max(this.limits.start, Math.floor(this.target * 0.75));
    this.missed = false;
    const old = this.idle.filter(({ since }) => now - since >= this.limits.idleMs);
    const spare = this.idle.filter((channel) => !old.includes(channel)).slice(this.target);
    for (const channel of [...old, ...spare]) this.drop(channel);
    this.refillSoon();
  }

  close(error: TunnelError): void {
    if (this.closedBy) return;
    this.closedBy = error;
    this.book.revoke(this);
    for (const channel of this.idle.slice()) this.drop(channel);
    for (const waiter of this.waiters) {
      clearTimeout(waiter.timer);
      waiter.reject(error);
    }
    this.waiters.clear();
  }

  /** Once for all that miss in the same turn of the event loop. */
  private grow(): void {
    if (!this.grown) this.target = Math.min(this.limits.cap, Math.max(this.limits.start, this.target * 2));
    this.grown = true;
    this.missed = true;
  }

  private keep(channel: Channel): void {
    const { stream } = channel;
    const gone = (): void => this.drop(idle);
    // Flows while idle: an end is noticed. An agent that speaks before it was asked to is not one.
    stream.on('data', gone);
    stream.on('end', gone);
    stream.on('error', gone);
    stream.on('close', gone);
    const release = (): void => {
      stream.pause();
      stream.off('data', gone);
      stream.off('end', gone);
      stream.off('error', gone);
      stream.off('close', gone);
    };
    const idle: IdleChannel = { ...channel, since: this.now(), release };
    this.idle.push(idle);
    stream.resume();
  }

  private drop(channel: IdleChannel): void {
    const at = this.idle.indexOf(channel);
    if (at < 0) return;
    this.idle.splice(at, 1);
    channel.release();
    channel.stream.on('error', () => undefined);
    channel.stream.destroy();
    this.refillSoon();
  }

  /** Once for all that happens in this turn of the event loop. */
  private refillSoon(): void {
    if (this.refilling || this.closedBy) return;
    this.refilling = true;
    setImmediate(() => {
      this.refilling = false;
      this.grown = false;
      if (!this.closedBy) this.refill();
    });
  }

  private refill(): void {
    const wanted = this.target + this.waiters.size - this.idle.length - this.pending;
    const count = Math.min(wanted, MAX_TICKETS - this.pending);
    if (count <= 0) return;
    this.pending += count;
    this.deliver(this.book.issue(this, count));
  }
}
