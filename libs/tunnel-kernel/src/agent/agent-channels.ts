import { Socket } from 'node:net';
import { ByteReader, resetStream, type ByteStream } from '@gatehouse/net';
import { AbortedSockets } from '../aborted-sockets.js';
import { AgentDatagrams, DEFAULT_DATAGRAM_LIMITS, type DatagramLimits } from '../datagrams/agent-datagrams.js';
import { AgentPaths } from '../direct/agent-paths.js';
import type { HostAndPort } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { PinnedServer } from '../session/pinned-tls.js';
import type { ChannelTicket, ConfigMessage } from '../wire/messages.js';
import {
  decodeStart,
  encodeOpening,
  encodeProbeAnswer,
  isProbe,
  startLength,
  START_HEADER_BYTES,
} from '../wire/prelude.js';
import { channelKeys } from '../wire/sealed-records.js';
import { FramedStream } from '../wire/framed-stream.js';
import { SealedStream } from '../wire/sealed-stream.js';
import { AgentResources } from './agent-resources.js';
import type { ChannelHandler, ChannelOwner, HandlerContext, StartedChannel } from './channel-handler.js';
import { ChannelHandlers } from './handlers.js';

/** Channels that are being opened or idle, at most: the server asks for fewer. */
const MAX_IDLE_CHANNELS = 512;
const MAX_HEAD_BYTES = 64 * 1024;

export interface AgentChannelsOptions extends Omit<HandlerContext, 'resources'> {
  datagrams?: Partial<DatagramLimits> | undefined;
  pinned: PinnedServer;
  /** Where direct paths of mode `p2p` are arranged; null: the agent makes none. */
  rendezvousAt: HostAndPort | null;
  /** For a data channel to open. */
  connectMs: number;
}

/** The agent's data channels: opened for tickets, idle until a start comes, then handed to their mode. */
export class AgentChannels {
  private readonly options: AgentChannelsOptions;
  private readonly idle = new Map<ByteStream, ChannelOwner>();
  private readonly aborted = new AbortedSockets();
  private opening = 0;
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

  /** Ends the channels that nobody uses, of one owner or of all. */
  closeIdle(owner?: ChannelOwner): void {
    for (const [stream, holder] of this.idle) if (!owner || holder === owner) stream.destroy();
  }

  private async openOne(ticket: ChannelTicket, owner: ChannelOwner): Promise<void> {
    let stream: ByteStream;
    try {
      stream = await this.connect(ticket, owner);
    } finally {
      this.opening -= 1;
    }
    stream.on('error', () => undefined);
    this.idle.set(stream, owner);
    const reader = new ByteReader(stream, MAX_HEAD_BYTES);
    const forget = (): void => void this.idle.delete(stream);
    stream.once('close', forget);
    try {
      let header = await reader.read(START_HEADER_BYTES);
      while (isProbe(header)) {
        stream.write(encodeProbeAnswer());
        header = await reader.read(START_HEADER_BYTES);
      }
      const start = decodeStart(Buffer.concat([header, await reader.read(startLength(header))]), ticket.key);
      forget();
      const { framed } = start;
      await this.handler.serve({
        ...(framed ? inFrames(stream, reader) : { stream, reader }),
        start,
        owner,
        id: ticket.id.toString('hex'),
      });
    } catch (error) {
      resetStream(stream);
      throw error;
    }
  }

  private async connect(ticket: ChannelTicket, { encrypt, route }: ChannelOwner): Promise<ByteStream> {
    const transport = await route.open(this.options.connectMs);
    if (transport instanceof Socket) this.aborted.watch(transport);
    transport.write(encodeOpening(ticket, encrypt));
    return encrypt ? new SealedStream(transport, channelKeys(ticket), 'agent') : transport;
  }

  private failed(error: unknown): void {
    // Idle channels end all the time; the server asks for new ones.
    const code = error instanceof TunnelError ? error.code : 'connection';
    this.options.logger.debug('a data channel ended unused', { code, error: String(error) });
  }
}

function inFrames(transport: ByteStream, before: ByteReader): Pick<StartedChannel, 'stream' | 'reader'> {
  before.restore();
  const stream = new FramedStream(transport);
  return { stream, reader: new ByteReader(stream, MAX_HEAD_BYTES) };
}
