import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ByteReader, ByteReaderError, type ByteStream, resetStream, setFlowTimeout } from '@gatehouse/net';
import { AbortedSockets } from './aborted-sockets.js';
import { AgentDatagrams, DEFAULT_DATAGRAM_LIMITS, type DatagramLimits } from './datagrams/agent-datagrams.js';
import { AgentPaths } from './direct/agent-paths.js';
import type { HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';
import type { PinnedServer } from './session/pinned-tls.js';
import type { ChannelTicket, ConfigMessage } from './wire/messages.js';
import {
  decodeStart,
  encodeOpening,
  encodeProbeAnswer,
  isProbe,
  startLength,
  START_HEADER_BYTES,
} from './wire/prelude.js';
import { channelKeys } from './wire/sealed-records.js';
import { FramedStream } from './wire/framed-stream.js';
import { ReusableChannelStream } from './wire/reusable-channel-stream.js';
import { SealedStream } from './wire/sealed-stream.js';
import { AgentResources } from './agent/agent-resources.js';
import type { ChannelHandler, ChannelOwner, HandlerContext, StartedChannel } from './agent/channel-handler.js';
import { ChannelHandlers } from './agent/handlers.js';

/** Upper bound for channels that are opening or idle. The server asks for fewer. */
const MAX_IDLE_CHANNELS = 512;
const MAX_HEAD_BYTES = 64 * 1024;
/**
 * After a session the server closes its idle channels. Until then it may have started one whose start is still on its
 * way.
 */
const LAST_STARTS_MS = 2000;

export interface AgentChannelsOptions extends Omit<HandlerContext, 'resources'> {
  datagrams?: Partial<DatagramLimits> | undefined;
  pinned: PinnedServer;
  /** Where direct paths of mode `p2p` are negotiated; null: the agent makes none. */
  rendezvousAt: HostAndPort | null;
  /** Time limit for a data channel to open. */
  connectMs: number;
}

/** A channel between two visitors. */
interface OpenChannel {
  transport: ByteStream;
  /** The stream of the next visitor: sealed, or the transport itself. */
  stream: ByteStream;
  ticket: ChannelTicket;
  owner: ChannelOwner;
  /** How many visitors it has carried. */
  visitors: number;
}

/**
 * The agent's data channels: opened with tickets, idle until a start arrives, then passed to the handler of their mode.
 */
export class AgentChannels {
  private readonly options: AgentChannelsOptions;
  private readonly idle = new Map<ByteStream, ChannelOwner>();
  private readonly aborted = new AbortedSockets();
  private opening = 0;
  /** Owners whose session has ended: what their channels carry now is not followed by another visitor. */
  private readonly gone = new WeakSet<ChannelOwner>();
  private stopped = false;
  private readonly resources: AgentResources;
  private readonly handler: ChannelHandler;
  readonly datagrams: AgentDatagrams;
  readonly paths: AgentPaths;

  constructor(options: AgentChannelsOptions) {
    this.options = options;
    this.resources = new AgentResources(options.now);
    const context = { ...options, resources: this.resources };
    this.datagrams = new AgentDatagrams({ ...context, limits: { ...DEFAULT_DATAGRAM_LIMITS, ...options.datagrams } });
    this.paths = new AgentPaths({ server: options.rendezvousAt, pinned: options.pinned, context });
    this.handler = new ChannelHandlers(context, this.datagrams);
  }

  configure(config: ConfigMessage): void {
    this.resources.configure(config);
    this.datagrams.configured();
    this.paths.configured();
  }

  open(tickets: readonly ChannelTicket[], owner: ChannelOwner): void {
    for (const ticket of tickets) {
      if (this.opening + this.idle.size >= MAX_IDLE_CHANNELS) return;
      this.opening += 1;
      this.openOne(ticket, owner).catch((error: unknown) => this.failed(error));
    }
  }

  /** The session is over: its channels are not reused, and idle ones are closed if the server does not close them. */
  sessionOver(owner: ChannelOwner): void {
    this.gone.add(owner);
    const timer = setFlowTimeout(
      null,
      () => {
        for (const [stream, holder] of this.idle) if (holder === owner) stream.destroy();
      },
      LAST_STARTS_MS,
    );
    timer.unref();
  }

  /**
   * Waits until the server, which knows that the agent is leaving, has closed the idle channels; `LAST_STARTS_MS` at
   * most.
   */
  async leave(graceMs: number): Promise<void> {
    this.stopped = true;
    const idle = [...this.idle.keys()].map(
      (stream) => new Promise<void>((resolve) => stream.once('close', () => resolve())),
    );
    const late = new AbortController();
    const time = delay(Math.min(graceMs, LAST_STARTS_MS), null, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.all(idle), time]);
    late.abort();
  }

  /** Closes the channels that carry no visitor. */
  closeIdle(): void {
    this.stopped = true;
    for (const stream of this.idle.keys()) stream.destroy();
  }

  private async openOne(ticket: ChannelTicket, owner: ChannelOwner): Promise<void> {
    let channel: OpenChannel;
    try {
      channel = await this.connect(ticket, owner);
    } finally {
      this.opening -= 1;
    }
    await this.carryNext(channel);
  }

  /** Stays idle until the next visitor's start arrives, then carries that visitor. */
  private async carryNext(channel: OpenChannel): Promise<void> {
    const { transport, stream, ticket, owner, visitors } = channel;
    if (!this.isWanted(owner)) return void transport.destroy();
    const reader = new ByteReader(stream, MAX_HEAD_BYTES);
    this.idle.set(stream, owner);
    const forget = (): void => void this.idle.delete(stream);
    stream.once('close', forget);
    let carried = stream;
    try {
      let header = await reader.read(START_HEADER_BYTES);
      while (isProbe(header)) {
        stream.write(encodeProbeAnswer());
        header = await reader.read(START_HEADER_BYTES);
      }
      const start = decodeStart(Buffer.concat([header, await reader.read(startLength(header))]), ticket.key, visitors);
      const arrival = this.resources.arrival(start);
      if (arrival) await arrival;
      if (stream.destroyed) return;
      stream.off('close', forget);
      forget();
      const ends = start.framed ? inFrames(stream, reader) : { stream, reader };
      carried = ends.stream;
      if (start.reused && carried instanceof ReusableChannelStream) this.keep(carried, channel);
      await this.handler.serve({ ...ends, start, owner, id: ticket.id.toString('hex') });
    } catch (error) {
      // The channel was closed while idle: the last bytes to the previous visitor may still be on their way.
      if (error instanceof ByteReaderError) carried.destroy();
      else resetStream(carried);
      throw error;
    }
  }

  /** Makes the channel available for another visitor after this one. */
  private keep(carried: ReusableChannelStream, channel: OpenChannel): void {
    const { stream, transport, owner } = channel;
    if (!(transport instanceof Socket)) return;
    const visitors = channel.visitors + 1;
    const free = (): void => {
      const next = stream instanceof SealedStream ? stream.next() : transport;
      this.carryNext({ ...channel, stream: next, visitors }).catch((error: unknown) => this.failed(error));
    };
    carried.reuseWith({ side: 'agent', wanted: () => this.isWanted(owner), free });
  }

  private isWanted(owner: ChannelOwner): boolean {
    return !this.stopped && !this.gone.has(owner);
  }

  private async connect(ticket: ChannelTicket, owner: ChannelOwner): Promise<OpenChannel> {
    const transport = await owner.route.open(this.options.connectMs);
    transport.on('error', () => undefined);
    if (transport instanceof Socket) this.aborted.watch(transport);
    transport.write(encodeOpening(ticket, owner.encrypt));
    const stream = owner.encrypt ? new SealedStream(transport, channelKeys(ticket), 'agent') : transport;
    return { transport, stream, ticket, owner, visitors: 0 };
  }

  private failed(error: unknown): void {
    // Idle channels end all the time; the server then asks for new ones.
    const code = error instanceof TunnelError ? error.code : 'connection';
    this.options.logger.debug('a data channel ended unused', { code, error: String(error) });
  }
}

function inFrames(transport: ByteStream, before: ByteReader): Pick<StartedChannel, 'stream' | 'reader'> {
  before.leave();
  const stream = new FramedStream(transport);
  return { stream, reader: new ByteReader(stream, MAX_HEAD_BYTES) };
}
