import { Socket } from 'node:net';
import { ShortHmac, type ByteStream } from '@gatehouse/net';
import type { ChannelTicket } from '../wire/messages.js';
import type { ChannelReuse } from '../wire/reusable-channel-stream.js';
import { SealedStream } from '../wire/sealed-stream.js';

/** A data channel without a visitor. */
export interface Channel {
  readonly stream: ByteStream;
  /** Of the key of the ticket that opened it: binds starts to it. */
  readonly key: ShortHmac;
  /** Id of the ticket, hex. */
  readonly id: string;
  /** How many visitors it has carried. */
  readonly visitors: number;
  /** Takes the channel back when its next visitor has left; null: it ends with that visitor. */
  readonly reuse: ChannelReuse | null;
}

/** What a channel reports to its pool. */
export interface ChannelEvents {
  /** Limit for the agent to report it free, in milliseconds. */
  readonly readyMs: number;
  /** The agent sent something while it was idle. */
  received(channel: PooledChannel, chunk: Buffer): void;
  /** It ended while it was idle. */
  ended(channel: PooledChannel): void;
  /** Whether it may carry another visitor. Called when its visitor's end was sent. */
  isReusable(channel: PooledChannel): boolean;
  /** Its visitor has left. */
  released(channel: PooledChannel): void;
}

/** A data channel, for all its visitors. */
export class PooledChannel implements Channel {
  stream: ByteStream;
  readonly key: ShortHmac;
  readonly id: string;
  readonly openedAt: number;
  visitors = 0;
  readonly reuse: ChannelReuse | null;
  /** When its last visitor's end was sent. */
  endSaidAt = 0;
  lastReceivedMs: number;
  /** Set while the channel is asked whether it still works; closes the channel when it fires. */
  asked: NodeJS.Timeout | null = null;
  private readonly onData: (chunk: Buffer) => void;
  private readonly onEnd: () => void;

  constructor(stream: ByteStream, ticket: ChannelTicket, openedAt: number, events: ChannelEvents) {
    this.stream = stream;
    this.key = new ShortHmac(ticket.key);
    this.id = ticket.id.toString('hex');
    this.openedAt = openedAt;
    this.lastReceivedMs = openedAt;
    this.onData = (chunk) => events.received(this, chunk);
    this.onEnd = () => events.ended(this);
    const overTcp = stream instanceof SealedStream ? stream.isOverTcp : stream instanceof Socket;
    const { readyMs } = events;
    this.reuse = overTcp
      ? { side: 'server', readyMs, wanted: () => events.isReusable(this), free: () => events.released(this) }
      : null;
  }

  /** Its visitor has left: the next one gets a stream of its own. */
  nextVisitor(): void {
    const { stream } = this;
    if (stream instanceof SealedStream) this.stream = stream.next();
    this.visitors += 1;
  }

  /** Reads while it is idle, so that its end is noticed. */
  listen(): void {
    const { stream } = this;
    stream.on('data', this.onData);
    stream.on('end', this.onEnd);
    stream.on('error', this.onEnd);
    stream.on('close', this.onEnd);
    stream.resume();
  }

  /** Stops listening, because the stream belongs to the caller from now on. It keeps reading. */
  leave(): void {
    const { stream } = this;
    if (this.asked) clearTimeout(this.asked);
    this.asked = null;
    stream.off('data', this.onData);
    stream.off('end', this.onEnd);
    stream.off('error', this.onEnd);
    stream.off('close', this.onEnd);
  }
}
