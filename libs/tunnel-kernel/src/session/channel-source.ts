import { Socket } from 'node:net';
import { ByteReader, type ByteStream, resetStream, reuseMemory, setFlowTimeout } from '@gatehouse/net';
import { TargetError, TunnelError } from '../errors.js';
import { decodeAnswer, encodeStart, type Start } from '../wire/prelude.js';
import { FramedStream } from '../wire/framed-stream.js';
import { ReusableChannelStream } from '../wire/reusable-channel-stream.js';
import { SealedStream } from '../wire/sealed-stream.js';
import type { AgentArrivals } from './agent-arrivals.js';
import type { Channel, ChannelPool } from './channel-pool.js';

const ANSWER_BYTES = 1;

export interface ChannelSourceOptions {
  /** How long a visitor waits for a data channel, milliseconds. */
  openMs: number;
  /** Whether an agent of the client is connected. */
  isOnline(clientId: number): boolean;
  /** The idle channels of one of the client's agents; of several, each in turn. Null: none is connected. */
  poolOf(clientId: number): ChannelPool | null;
  /** Agents that are on their way: their visitors wait. */
  arrivals: AgentArrivals;
}

export type StartOf = Omit<Start, 'wantsAnswer' | 'framed' | 'reused'>;

/** The data channels of all clients, each started for one visitor: what is written goes to the target. */
export class ChannelSource {
  private readonly options: ChannelSourceOptions;

  constructor(options: ChannelSourceOptions) {
    this.options = options;
  }

  /** Starts an idle channel; null if there is none: use `open`. @throws TunnelError `offline`. */
  take(clientId: number, start: StartOf): ByteStream | null {
    if (this.isExpected(clientId)) return null;
    const channel = this.pool(clientId).take();
    return channel && begin(channel, { ...start, wantsAnswer: false });
  }

  /** @throws TunnelError `offline`, `timeout`, `overloaded`. */
  async open(clientId: number, start: StartOf): Promise<ByteStream> {
    return begin(await this.channel(clientId), { ...start, wantsAnswer: false });
  }

  /** Resolves when the agent has reached the target. @throws TargetError, or TunnelError as `open`. */
  async reach(clientId: number, start: StartOf, timeoutMs: number): Promise<ByteStream> {
    const stream = begin(await this.channel(clientId), { ...start, wantsAnswer: true });
    const timer = setFlowTimeout(stream, () => resetStream(stream), timeoutMs);
    try {
      const reader = new ByteReader(stream, ANSWER_BYTES);
      const failure = decodeAnswer((await reader.read(ANSWER_BYTES))[0] ?? 0);
      if (failure) throw new TargetError(failure);
      reader.restore();
      return stream;
    } catch (error) {
      resetStream(stream);
      if (error instanceof TunnelError) throw error;
      throw new TargetError('timeout');
    } finally {
      clearTimeout(timer);
    }
  }

  private async channel(clientId: number): Promise<Channel> {
    if (this.isExpected(clientId)) await this.options.arrivals.wait(clientId);
    const pool = this.pool(clientId);
    return pool.take() ?? (await pool.wait(this.options.openMs));
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

function begin({ stream, key, visitors, reuse }: Channel, start: Omit<Start, 'framed' | 'reused'>): ByteStream {
  // TCP alone cannot distinguish an end from a killed process. Hosts and lanes carry their own lengths, and are faster without frames.
  // A socket that carried a visitor reads into reused memory: not for undici and TLS, which take over sockets.
  const framed = stream instanceof Socket && (start.kind === 'tunnel' || visitors > 0);
  // Channels of hosts and of datagrams are pooled by their users; for the others, opening a TCP connection is the cost
  // that reuse saves.
  const reused = start.kind === 'tunnel' && reuse !== null;
  stream.write(encodeStart({ ...start, framed, reused }, key, visitors));
  const carried = framed ? new FramedStream(stream) : stream;
  if (reused && carried instanceof ReusableChannelStream) carried.reuseWith(reuse);
  if (stream instanceof SealedStream) stream.reuseMemory();
  else if (framed) reuseMemory(stream);
  return carried;
}
