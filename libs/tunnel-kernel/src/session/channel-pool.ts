import { type ByteStream, NextTurn, resetStream, setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { MAX_TICKETS } from '../wire/codec.js';
import type { ChannelTicket } from '../wire/messages.js';
import { isProbeAnswer, PROBE } from '../wire/prelude.js';
import { PooledChannel, type Channel, type ChannelEvents } from './pooled-channel.js';
import type { TicketTable, TicketHolder } from './ticket-table.js';
import { UnansweredChannels } from './unanswered-channels.js';

export interface PoolLimits {
  /** Minimum of idle channels for a client with visitors. */
  start: number;
  /** Maximum of idle channels that are opened ahead. As many again may stay when their visitors leave, until the next `sweep`. */
  cap: number;
  /** Maximum of visitors that wait for a channel. */
  waiting: number;
  /**
   * An idle channel that was silent for this long must answer before it is used: a NAT in between may have dropped it.
   */
  freshMs: number;
  /** Time limit for that answer. */
  answerMs: number;
  /** How long the agent may take to report a channel free after its visitor has ended in both directions. */
  readyMs: number;
  /** A client without visitors for this long keeps no idle channels. */
  quietMs: number;
  /** A channel of this age is not reused when its visitor leaves. */
  channelMs: number;
  /** Maximum of visitors that use one channel, one after the other. */
  visitors: number;
  /** With more agents than this, a new agent starts without idle channels until its first visitor. */
  quietAbove: number;
}

export const DEFAULT_POOL_LIMITS: PoolLimits = {
  start: 4,
  cap: 64,
  waiting: 4096,
  freshMs: 12_000,
  answerMs: 2000,
  readyMs: 10_000,
  quietMs: 60_000,
  channelMs: 300_000,
  visitors: 1000,
  quietAbove: 500,
};

export interface PoolOptions {
  tickets: TicketTable;
  limits: PoolLimits;
  now: () => number;
  sealed: boolean;
  /** The agent takes records of `MAX_RECORD_BYTES`. */
  longRecords: boolean;
  /** The client has no visitors yet, as far as is known. */
  quiet: boolean;
  /** First byte of the ids of tickets, for a server that passes them on; null: any. Absent: as for local agents. */
  firstByte?: number | null;
  /** Sends tickets to the agent. */
  deliver: (tickets: ChannelTicket[]) => void;
  /** A visitor needs a channel. */
  visited?: () => void;
  /** The agent has said something on a channel. */
  heard?: () => void;
}

const nothing = (): void => undefined;

interface Waiter {
  resolve(channel: Channel): void;
  reject(error: TunnelError): void;
  timer: NodeJS.Timeout;
}

/**
 * The idle data channels of one session. Their number follows the demand: it doubles after a visitor had to wait,
 * shrinks while none has to, and drops to zero without visitors.
 */
export class ChannelPool implements TicketHolder {
  private readonly tickets: TicketTable;
  private readonly limits: PoolLimits;
  private readonly now: () => number;
  readonly sealed: boolean;
  readonly longRecords: boolean;
  private readonly deliver: (tickets: ChannelTicket[]) => void;
  private readonly firstByte: number | null | undefined;
  private readonly idle: PooledChannel[] = [];
  private readonly waiters = new Set<Waiter>();
  private pending = 0;
  private target: number;
  private missed = false;
  private grown = false;
  private usedAt: number;
  private readonly refilling = new NextTurn(null, () => {
    this.grown = false;
    if (!this.closedBy) this.refill();
  });
  private readonly channelEvents: ChannelEvents;
  private closedBy: TunnelError | null = null;
  private silent = false;
  private readonly visited: () => void;
  private readonly onHeard: () => void;
  private readonly unanswered = new UnansweredChannels();
  private onGivenUp: Set<() => void> | null = null;

  constructor({ tickets, limits, now, sealed, longRecords, quiet, firstByte, ...more }: PoolOptions) {
    const { deliver, visited, heard } = more;
    this.tickets = tickets;
    this.limits = limits;
    this.now = now;
    this.sealed = sealed;
    this.longRecords = longRecords;
    this.deliver = deliver;
    this.firstByte = firstByte;
    this.visited = visited ?? nothing;
    this.onHeard = heard ?? nothing;
    this.channelEvents = {
      readyMs: limits.readyMs,
      received: (channel, chunk) => this.receive(channel, chunk),
      ended: (channel) => this.drop(channel),
      isReusable: (channel) => this.isReusable(channel),
      released: (channel) => this.returned(channel),
    };
    this.target = quiet ? 0 : limits.start;
    this.usedAt = quiet ? now() - limits.quietMs : now();
    this.refillSoon();
  }

  /** Number of visitors that wait for a channel. */
  get waitingCount(): number {
    return this.waiters.size;
  }

  get idleCount(): number {
    return this.idle.length;
  }

  /** Whether channels can be expected of the agent: it has not fallen silent, and is connected. */
  get answers(): boolean {
    return !this.silent && !this.closedBy;
  }

  /** The agent has fallen silent, or speaks again. */
  setSilent(silent: boolean): void {
    this.silent = silent;
    if (silent) this.giveUp();
  }

  /** Calls `listener` when the agent falls silent or leaves; returns a function that ends this. */
  whenGivenUp(listener: () => void): () => void {
    this.onGivenUp ??= new Set();
    this.onGivenUp.add(listener);
    return () => void this.onGivenUp?.delete(listener);
  }

  /** A channel was started for a visitor. */
  started(stream: ByteStream): void {
    this.unanswered.started(stream);
    stream.once('data', () => {
      this.unanswered.answered(stream);
      this.onHeard();
    });
  }

  /** The agent has said something. */
  heard(): void {
    this.unanswered.heard();
    this.onHeard();
  }

  /** Resets the channels of visitors who came since the agent was last heard. */
  abandon(): void {
    this.unanswered.reset();
  }

  /** The newest idle channel with recent traffic, which still reads. Null: use `wait`. */
  take(): Channel | null {
    this.visited();
    if (this.silent) return null;
    this.usedAt = this.now();
    this.target = Math.max(this.target, this.limits.start);
    this.refillSoon();
    const now = this.now();
    // The newest ones are the last.
    for (let at = this.idle.length - 1; at >= 0; at -= 1) {
      const channel = this.idle[at] as PooledChannel;
      if (!this.isFresh(channel, now)) continue;
      this.forget(channel, at);
      return channel;
    }
    return null;
  }

  /** @throws TunnelError `timeout`, `overloaded`, or what closed the pool. */
  wait(timeoutMs: number): Promise<Channel> {
    return new Promise((resolve, reject) => {
      if (this.closedBy) return reject(this.closedBy);
      this.visited();
      if (this.waiters.size >= this.limits.waiting) {
        return reject(new TunnelError('overloaded', 'too many visitors wait for a data channel'));
      }
      const late = (): void => {
        this.waiters.delete(waiter);
        reject(new TunnelError('timeout', `the agent opened no data channel within ${timeoutMs} ms`));
      };
      const timer = setFlowTimeout(null, late, timeoutMs);
      const waiter: Waiter = { resolve, reject, timer };
      this.waiters.add(waiter);
      // Channels that still work may be faster than new ones.
      for (const channel of this.idle) this.ask(channel);
      this.grow();
      this.refillSoon();
    });
  }

  admit(ticket: ChannelTicket, stream: ByteStream): void {
    this.pending -= 1;
    if (this.closedBy) return resetStream(stream);
    this.heard();
    const channel = new PooledChannel(stream, ticket, this.now(), this.channelEvents);
    if (!this.serve(channel)) this.keep(channel, channel.openedAt);
    this.refillSoon();
  }

  private isReusable(channel: PooledChannel): boolean {
    const { limits } = this;
    channel.endSaidAt = this.now();
    const isWorn = channel.endSaidAt - channel.openedAt >= limits.channelMs || channel.visitors + 1 >= limits.visitors;
    return !isWorn && !this.closedBy;
  }

  /**
   * It was last active when its visitor's end was sent: the agent's report may have waited here for a slow visitor, so it can
   * be older than this call.
   */
  private returned(channel: PooledChannel): void {
    channel.nextVisitor();
    // While it was used, another was opened in its place. Ending one of the two would only have the next burst of visitors
    // open it once more.
    const isSpare = this.waiters.size === 0 && this.idle.length >= 2 * this.limits.cap;
    if (this.closedBy || isSpare) return void channel.stream.destroy();
    this.heard();
    if (this.now() - channel.endSaidAt < this.limits.freshMs && this.serve(channel)) return;
    this.keep(channel, channel.endSaidAt);
    if (this.waiters.size > 0) this.ask(channel);
  }

  expired(count: number): void {
    this.pending -= count;
    this.refillSoon();
  }

  /** Called regularly: closes channels that are too old or too many. */
  sweep(): void {
    const now = this.now();
    if (now - this.usedAt >= this.limits.quietMs) this.target = 0;
    else if (!this.missed) this.target = Math.max(this.limits.start, Math.floor(this.target * 0.75));
    this.missed = false;
    // Those that were idle longest: the newest are used first.
    for (const channel of this.idle.slice(0, Math.max(0, this.idle.length - this.target))) this.drop(channel);
    // Half of them at a time: a channel cannot be used between question and answer.
    const asked = this.idle.filter((_, index) => index % 2 === 0);
    const others = this.idle.filter((_, index) => index % 2 === 1);
    for (const channel of asked) this.ask(channel);
    if (others.length > 0)
      setFlowTimeout(null, () => others.forEach((one) => this.ask(one)), this.limits.answerMs).unref();
    this.refillSoon();
  }

  close(error: TunnelError): void {
    if (this.closedBy) return;
    this.closedBy = error;
    this.giveUp();
    this.tickets.revoke(this);
    for (const channel of this.idle.slice()) this.drop(channel);
    for (const waiter of this.waiters) {
      clearTimeout(waiter.timer);
      waiter.reject(error);
    }
    this.waiters.clear();
  }

  private giveUp(): void {
    for (const listener of this.onGivenUp ?? []) listener();
  }

  /** At most once per turn of the event loop. */
  private grow(): void {
    if (!this.grown) this.target = Math.min(this.limits.cap, Math.max(this.limits.start, this.target * 2));
    this.grown = true;
    this.missed = true;
  }

  private isFresh({ lastReceivedMs, asked }: PooledChannel, now: number): boolean {
    return asked === null && now - lastReceivedMs < this.limits.freshMs;
  }

  /** Gives the channel to the visitor that has waited longest. False: nobody waits. */
  private serve(channel: Channel): boolean {
    if (this.waiters.size === 0) return false;
    const [waiter] = this.waiters;
    if (!waiter) return false;
    this.waiters.delete(waiter);
    clearTimeout(waiter.timer);
    // It is started in a later turn.
    channel.stream.pause();
    waiter.resolve(channel);
    return true;
  }

  private keep(channel: PooledChannel, lastReceivedMs: number): void {
    channel.lastReceivedMs = lastReceivedMs;
    this.idle.push(channel);
    channel.listen();
  }

  private ask(channel: PooledChannel): void {
    if (channel.asked || !this.idle.includes(channel)) return;
    channel.stream.write(PROBE);
    channel.asked = setFlowTimeout(channel.stream, () => this.drop(channel), this.limits.answerMs);
  }

  /** A channel on which the agent sends anything but the expected answer is closed. */
  private receive(channel: PooledChannel, chunk: Buffer): void {
    if (!channel.asked || !isProbeAnswer(chunk)) return this.drop(channel);
    clearTimeout(channel.asked);
    channel.asked = null;
    channel.lastReceivedMs = this.now();
    this.heard();
    if (this.waiters.size === 0) return;
    this.forget(channel);
    this.serve(channel);
  }

  private drop(channel: PooledChannel): void {
    if (!this.forget(channel)) return;
    channel.stream.on('error', () => undefined);
    channel.stream.destroy();
    this.refillSoon();
  }

  /** Removes the channel from the idle ones. False: it was not among them. */
  private forget(channel: PooledChannel, at = this.idle.indexOf(channel)): boolean {
    if (at < 0) return false;
    if (at === this.idle.length - 1) this.idle.pop();
    else this.idle.splice(at, 1);
    channel.leave();
    return true;
  }

  /** Number of channels that the next visitors may use; no more than `needed` are counted. */
  private useful(needed: number, now: number): number {
    let count = 0;
    for (let at = this.idle.length - 1; at >= 0 && count < needed; at -= 1) {
      const channel = this.idle[at] as PooledChannel;
      // While a visitor waits, channels that have not answered yet do not count.
      if (channel.asked ? this.waiters.size === 0 : this.isFresh(channel, now)) count += 1;
    }
    return count;
  }

  /** At most once per turn of the event loop. */
  private refillSoon(): void {
    if (!this.closedBy) this.refilling.schedule();
  }

  private refill(): void {
    const now = this.now();
    const needed = this.target + this.waiters.size - this.pending;
    const wanted = needed - this.useful(needed, now);
    const count = Math.min(wanted, MAX_TICKETS - this.pending);
    // Messages are batched: as long as nobody waits, up to a quarter may be missing.
    if (count <= 0 || (this.waiters.size === 0 && count * 4 < this.target)) return;
    this.pending += count;
    this.deliver(this.tickets.issue(this, count, this.firstByte));
  }
}
