import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ByteStream, resetStream, setFlowTimeout, ShortHmac } from '@gatehouse/net';
import { AbortedSockets } from './aborted-sockets.js';
import { AgentDatagrams, DEFAULT_DATAGRAM_LIMITS, type DatagramLimits } from './datagrams/agent-datagrams.js';
import { AgentPaths } from './direct/agent-paths.js';
import type { HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';
import type { PinnedServer } from './session/pinned-tls.js';
import type { ChannelTicket, ConfigMessage } from './wire/messages.js';
import { decodeStart, encodeOpening, type Start } from './wire/prelude.js';
import { channelKeys } from './wire/sealed-records.js';
import { FramedStream } from './wire/framed-stream.js';
import { ReusableChannelStream } from './wire/reusable-channel-stream.js';
import { SealedStream } from './wire/sealed-stream.js';
import { AgentResources } from './agent/agent-resources.js';
import type { ChannelHandler, ChannelOwner, HandlerContext } from './agent/channel-handler.js';
import { ChannelHandlers } from './agent/handlers.js';
import { StartReader } from './agent/start-reader.js';

/** Upper bound for channels that are opening or idle. The server asks for fewer. */
const MAX_IDLE_CHANNELS = 512;
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
  /** Of the key of its ticket. */
  key: ShortHmac;
  /** Id of its ticket, hex. */
  id: string;
  owner: ChannelOwner;
  /** How many visitors it has carried. */
  visitors: number;
  reader: StartReader;
}

/**
 * The agent's data channels: opened with tickets, idle until a start arrives, then passed to the handler of their mode.
 */
export class AgentChannels {
  private readonly options: AgentChannelsOptions;
  private readonly idle = new Set<OpenChannel>();
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
        for (const channel of this.idle) if (channel.owner === owner) channel.stream.destroy();
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
    const idle = [...this.idle].map(
      ({ stream }) => new Promise<void>((resolve) => stream.once('close', () => resolve())),
    );
    const late = new AbortController();
    const time = delay(Math.min(graceMs, LAST_STARTS_MS), null, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.all(idle), time]);
    late.abort();
  }

  /** Closes the channels that carry no visitor. */
  closeIdle(): void {
    this.stopped = true;
    for (const { stream } of this.idle) stream.destroy();
  }

  private async openOne(ticket: ChannelTicket, owner: ChannelOwner): Promise<void> {
    try {
      this.carryNext(await this.connect(ticket, owner));
    } finally {
      this.opening -= 1;
    }
  }

  /** Stays idle until the next visitor's start arrives, then carries that visitor. */
  private carryNext(channel: OpenChannel): void {
    if (!this.isWanted(channel.owner)) return void channel.transport.destroy();
    this.idle.add(channel);
    channel.reader.listen(channel.stream);
  }

  /** @throws TunnelError `protocol`. */
  private started(channel: OpenChannel, bytes: Buffer, rest: Buffer): void {
    const start = decodeStart(bytes, channel.key, channel.visitors);
    const { stream } = channel;
    if (start.longRecords && stream instanceof SealedStream) stream.useLongRecords();
    const carried = held(stream, start.framed, rest);
    const arrival = this.resources.arrival(start);
    if (!arrival) return this.serve(channel, start, carried);
    carried.once('close', () => this.idle.delete(channel));
    arrival.then(() => this.serve(channel, start, carried)).catch((error: unknown) => this.failed(error));
  }

  private serve(channel: OpenChannel, start: Start, stream: ByteStream): void {
    this.idle.delete(channel);
    if (stream.destroyed) return;
    if (start.reused && stream instanceof ReusableChannelStream) this.keep(stream, channel);
    const { owner, id } = channel;
    const failed = (error: unknown): void => {
      resetStream(stream);
      this.failed(error);
    };
    try {
      this.handler.serve({ stream, reader: null, start, owner, id }).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Makes the channel available for another visitor after this one. */
  private keep(carried: ReusableChannelStream, channel: OpenChannel): void {
    const { stream, transport, owner } = channel;
    if (!(transport instanceof Socket)) return;
    const free = (): void => {
      channel.stream = stream instanceof SealedStream ? stream.next() : transport;
      channel.visitors += 1;
      this.carryNext(channel);
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
    const id = ticket.id.toString('hex');
    const key = new ShortHmac(ticket.key);
    const reader = new StartReader({
      started: (start, rest) => this.started(channel, start, rest),
      failed: (error) => {
        this.idle.delete(channel);
        resetStream(channel.stream);
        this.failed(error);
      },
      ended: (error) => {
        this.idle.delete(channel);
        // The last bytes to the previous visitor may still be on their way.
        channel.stream.destroy();
        this.failed(error ?? new TunnelError('connection', 'the stream ended'));
      },
    });
    const channel: OpenChannel = { transport, stream, key, id, owner, visitors: 0, reader };
    return channel;
  }

  private failed(error: unknown): void {
    // Idle channels end all the time; the server then asks for new ones.
    const code = error instanceof TunnelError ? error.code : 'connection';
    this.options.logger.debug('a data channel ended unused', { code, error: String(error) });
  }
}

/** The visitor's stream on an idle channel that still reads: it delivers nothing before `resume`, and then `rest` first. */
function held(stream: ByteStream, framed: boolean, rest: Buffer): ByteStream {
  if (framed) {
    const carried = new FramedStream(stream);
    if (rest.length > 0) carried.precede(rest);
    return carried;
  }
  if (stream instanceof ReusableChannelStream) stream.hold();
  else stream.pause();
  if (rest.length > 0) stream.unshift(rest);
  return stream;
}
