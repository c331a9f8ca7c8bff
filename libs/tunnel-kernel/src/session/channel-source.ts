import { Socket } from 'node:net';
import { ByteReader, type ByteStream, resetStream, reuseMemory, setFlowTimeout } from '@gatehouse/net';
import { TargetError, TunnelError } from '../errors.js';
import { decodeAnswer, encodeStart, type Start } from '../wire/prelude.js';
import { FramedStream } from '../wire/framed-stream.js';
import { ReusableChannelStream } from '../wire/reusable-channel-stream.js';
import { SealedStream } from '../wire/sealed-stream.js';
import type { AgentArrivals } from './agent-arrivals.js';
import type { ChannelPool } from './channel-pool.js';
import type { Channel } from './pooled-channel.js';

const ANSWER_BYTES = 1;
/** Agents that are asked for one visitor, one after the other. */
const MAX_TRIES = 3;

export interface ChannelSourceOptions {
  /** How long a visitor waits for a data channel, milliseconds. */
  openMs: number;
  /** How long it waits for one agent where there is another one, milliseconds. */
  otherMs: number;
  /** Whether an agent of the client is connected. */
  isOnline(clientId: number): boolean;
  /** The idle channels of one of the client's agents; of several, each in turn. Null: none is connected. */
  poolOf(clientId: number): ChannelPool | null;
  /** Those of all of the client's agents, the best first. */
  poolsOf(clientId: number): ChannelPool[];
  /** Agents that are on their way: their visitors wait. */
  arrivals: AgentArrivals;
}

export type StartOf = Omit<Start, 'wantsAnswer' | 'framed' | 'reused' | 'longRecords'>;

/** The data channels of all clients, each started for one visitor: what is written goes to the target. */
export class ChannelSource {
  private readonly options: ChannelSourceOptions;

  constructor(options: ChannelSourceOptions) {
    this.options = options;
  }

  /** Starts an idle channel; null if there is none: use `open`. @throws TunnelError `offline`. */
  take(clientId: number, start: StartOf): ByteStream | null {
    if (this.isExpected(clientId)) return null;
    const pool = this.pool(clientId);
    const channel = pool.take();
    return channel && beginAt(pool, channel, start);
  }

  /** @throws TunnelError `offline`, `timeout`, `overloaded`. */
  async open(clientId: number, start: StartOf): Promise<ByteStream> {
    const { pool, channel } = await this.channel(clientId);
    return beginAt(pool, channel, start);
  }

  /**
   * Resolves when the agent has reached the target. An agent that falls silent before that is no reason to wait: nothing was
   * delivered, so another one is asked. @throws TargetError, or TunnelError as `open`.
   */
  async reach(clientId: number, start: StartOf, timeoutMs: number): Promise<ByteStream> {
    const until = performance.now() + timeoutMs;
    for (let tries = 1; ; tries += 1) {
      const found = await this.channel(clientId);
      const stream = begin(found.channel, start);
      const leftMs = Math.max(1, until - performance.now());
      if (await this.isAnswered(clientId, found.pool, stream, tries === 1 ? timeoutMs : leftMs)) return stream;
      if (tries === MAX_TRIES || performance.now() >= until) throw new TargetError('timeout');
    }
  }

  /** False: the agent is gone, and there is another one. @throws TargetError */
  private async isAnswered(
    clientId: number,
    pool: ChannelPool,
    stream: ByteStream,
    timeoutMs: number,
  ): Promise<boolean> {
    let isGone = false;
    const timer = setFlowTimeout(stream, () => resetStream(stream), timeoutMs);
    const forget = pool.whenGivenUp(() => {
      isGone = this.options.poolsOf(clientId).some((other) => other !== pool && other.answers);
      if (isGone) resetStream(stream);
    });
    try {
      const reader = new ByteReader(stream, ANSWER_BYTES);
      const failure = decodeAnswer((await reader.read(ANSWER_BYTES))[0] ?? 0);
      pool.heard();
      if (failure) throw new TargetError(failure);
      reader.restore();
      return true;
    } catch (error) {
      resetStream(stream);
      if (error instanceof TunnelError) throw error;
      if (isGone) return false;
      throw new TargetError('timeout');
    } finally {
      clearTimeout(timer);
      forget();
    }
  }

  private async channel(clientId: number): Promise<Found> {
    if (this.isExpected(clientId)) await this.options.arrivals.wait(clientId);
    return this.ofAny(clientId, this.pool(clientId));
  }

  /** A channel of one agent, or of another where that one opens none in time or leaves. */
  private async ofAny(clientId: number, first: ChannelPool): Promise<Found> {
    const { openMs, otherMs, arrivals } = this.options;
    const until = performance.now() + openMs;
    const tried = new Set<ChannelPool>();
    const other = (): ChannelPool | null => this.options.poolsOf(clientId).find((pool) => !tried.has(pool)) ?? null;
    for (let pool = first; ;) {
      tried.add(pool);
      const leftMs = until - performance.now();
      try {
        const idle = pool.take();
        // It is started in a later turn.
        idle?.stream.pause();
        return { pool, channel: idle ?? (await pool.wait(other() ? Math.min(leftMs, otherMs) : leftMs)) };
      } catch (error) {
        if (!(error instanceof TunnelError) || performance.now() >= until) throw error;
        // Its server is gone: another one may have the agent in a moment.
        if (!other() && error.code === 'offline' && this.isExpected(clientId)) await arrivals.wait(clientId);
        const next = other();
        if (!next) throw error;
        pool = next;
      }
    }
  }

  private isExpected(clientId: number): boolean {
    const { options } = this;
    return options.arrivals.expects(clientId) && !options.isOnline(clientId);
  }

  private pool(clientId: number): ChannelPool {
    const pool = this.options.poolOf(clientId);
    if (!pool) throw new TunnelError('offline', 'no agent is connected');
    return pool;
  }
}

interface Found {
  pool: ChannelPool;
  channel: Channel;
}

/** For a visitor whose bytes follow at once: the start goes with the first of them. */
function beginAt(pool: ChannelPool, channel: Channel, start: StartOf): ByteStream {
  const bytes = encodeStart(startOn(channel, start, false), channel.key, channel.visitors);
  const stream = carried(channel, start);
  if (stream instanceof ReusableChannelStream) stream.startWith(bytes);
  else stream.write(bytes);
  pool.started(stream);
  return stream;
}

/** For a visitor who waits for the agent's answer. */
function begin(channel: Channel, start: StartOf): ByteStream {
  channel.stream.write(encodeStart(startOn(channel, start, true), channel.key, channel.visitors));
  return carried(channel, start);
}

// TCP alone cannot distinguish an end from a killed process. Hosts and lanes carry their own lengths, and are faster without frames.
// A socket that carried a visitor reads into reused memory: not for undici and TLS, which take over sockets.
function isFramed({ stream, visitors }: Channel, { kind }: StartOf): boolean {
  return stream instanceof Socket && (kind === 'tunnel' || visitors > 0);
}

function startOn(channel: Channel, start: StartOf, wantsAnswer: boolean): Start {
  const { kind, id, target, destination, visitor, entrance } = start;
  const framed = isFramed(channel, start);
  const reused = isReused(channel, start);
  const longRecords = channel.stream instanceof SealedStream;
  return { kind, id, target, destination, wantsAnswer, framed, reused, longRecords, visitor, entrance };
}

// Channels of hosts and of datagrams are pooled by their users; for the others, opening a TCP connection is the cost
// that reuse saves.
function isReused({ reuse }: Channel, { kind }: StartOf): boolean {
  return kind === 'tunnel' && reuse !== null;
}

/** The visitor's stream on a channel. */
function carried(channel: Channel, start: StartOf): ByteStream {
  const { stream, visitors, reuse } = channel;
  const framed = isFramed(channel, start);
  // Nothing comes before the start has arrived, so a channel that reads may go on: each stop and start costs calls of the system.
  // Its memory is exchanged once, for which it must not read.
  if (visitors === 0 || !(framed || stream instanceof SealedStream)) stream.pause();
  else if (stream instanceof SealedStream) stream.hold();
  const own = framed ? new FramedStream(stream) : stream;
  if (reuse && isReused(channel, start) && own instanceof ReusableChannelStream) own.reuseWith(reuse);
  if (stream instanceof SealedStream) stream.reuseMemory();
  else if (framed) reuseMemory(stream);
  return own;
}
