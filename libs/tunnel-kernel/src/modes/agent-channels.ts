import { ByteReader, relay, resetStream, type ByteStream } from '@gatehouse/net';
import type { AgentDialer, HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { FlowLedger } from '../flow-ledger.js';
import { FramedStream } from '../wire/framed-stream.js';
import type { AgentTunnel, ChannelTicket, DialFailure, TargetAddress } from '../wire/messages.js';
import { decodeStart, encodeOpening, startLength, START_HEADER_BYTES, type Start } from '../wire/prelude.js';
import { proxyHeader } from '../wire/proxy-header.js';
import { DATA_PROTOCOL } from '../session/door.js';
import type { PinnedServer } from '../session/pinned-tls.js';
import { TargetPicker } from './target-picker.js';

/** Channels that are being opened or idle, at most: the server asks for fewer. */
const MAX_IDLE_CHANNELS = 512;
const MAX_HEAD_BYTES = 64 * 1024;

/** Under which session a channel was asked for. */
export interface ChannelOwner {
  clientId: number;
  encrypt: boolean;
  refuse(tunnelId: number, channel: string, reason: DialFailure): void;
}

export interface AgentChannelsOptions {
  server: HostAndPort;
  pinned: PinnedServer;
  dialer: AgentDialer;
  ledger: FlowLedger;
  logger: TunnelLogger;
  now: () => number;
  /** For a data channel to open. */
  connectMs: number;
  /** For all targets of a tunnel together. */
  dialMs: number;
  /** The agent's own say on what it exposes. */
  allows: (target: HostAndPort) => boolean;
}

interface KnownTunnel {
  tunnel: AgentTunnel;
  picker: TargetPicker;
}

/** The agent's data channels: opened for tickets, idle until a start comes, then joined to a target. */
export class AgentChannels {
  private readonly options: AgentChannelsOptions;
  private readonly idle = new Map<ByteStream, ChannelOwner>();
  private opening = 0;
  private tunnels = new Map<number, KnownTunnel>();

  constructor(options: AgentChannelsOptions) {
    this.options = options;
  }

  configure(tunnels: readonly AgentTunnel[]): void {
    this.tunnels = new Map(
      tunnels.map((tunnel) => [tunnel.id, { tunnel, picker: new TargetPicker(tunnel.targets, this.options.now) }]),
    );
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
      const header = await reader.read(START_HEADER_BYTES);
      const start = decodeStart(Buffer.concat([header, await reader.read(startLength(header))]), ticket.key);
      forget();
      await this.serve({ start, stream, reader, owner, channel: ticket.id.toString('hex') });
    } catch (error) {
      resetStream(stream);
      throw error;
    }
  }

  private async connect(ticket: ChannelTicket, { encrypt }: ChannelOwner): Promise<ByteStream> {
    const { dialer, server, pinned, connectMs } = this.options;
    const transport = await dialer.server(server, connectMs);
    if (!encrypt) {
      transport.write(encodeOpening(ticket));
      return transport;
    }
    const stream = await pinned.secure(transport, DATA_PROTOCOL, connectMs);
    stream.write(encodeOpening(ticket));
    return new FramedStream(stream);
  }

  private async serve({ start, stream, reader, owner, channel }: StartedChannel): Promise<void> {
    const known = this.tunnels.get(start.tunnelId);
    const target = await this.reach(known, (reason) => owner.refuse(start.tunnelId, channel, reason));
    if (!target) return resetStream(stream);
    if (stream.destroyed) return resetStream(target);
    const { ledger } = this.options;
    const version = known?.tunnel.proxyProtocol;
    // Not the visitor's: written before the relay counts.
    if (version === 1 || version === 2) target.write(proxyHeader(version, start.visitor, start.entrance));
    const flow = ledger.open(start.tunnelId, owner.clientId, start.visitor);
    const head = reader.detach();
    flow.handle = relay(stream, target, flow.counter, { head, onClose: (end) => ledger.close(flow, end) });
  }

  /** The first target that can be reached; null after `refuse` was told why none was. */
  private async reach(
    known: KnownTunnel | undefined,
    refuse: (reason: DialFailure) => void,
  ): Promise<ByteStream | null> {
    if (known?.tunnel.mode !== 'tcp') {
      refuse('unknown_tunnel');
      return null;
    }
    const { dialer, dialMs, now, allows } = this.options;
    const deadline = now() + dialMs;
    let reason: DialFailure = 'forbidden';
    for (const target of known.picker.order()) {
      const left = deadline - now();
      if (!allows(target)) continue;
      if (left <= 0) break;
      try {
        return await dialer.target(target, Math.min(left, dialMs));
      } catch (error) {
        reason = dialFailure(error);
        this.report(target, known, reason);
      }
    }
    refuse(reason);
    return null;
  }

  private report(target: TargetAddress, { tunnel, picker }: KnownTunnel, reason: DialFailure): void {
    picker.failed(target);
    const { host, port } = target;
    this.options.logger.warn('a target could not be reached', { tunnel: tunnel.id, host, port, reason });
  }

  private failed(error: unknown): void {
    // Idle channels end all the time; the server asks for new ones.
    const code = error instanceof TunnelError ? error.code : 'connection';
    this.options.logger.debug('a data channel ended unused', { code, error: String(error) });
  }
}

interface StartedChannel {
  start: Start;
  stream: ByteStream;
  reader: ByteReader;
  owner: ChannelOwner;
  /** Id of its ticket, hex. */
  channel: string;
}

const FAILURES: Readonly<Record<string, DialFailure>> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  timeout: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'name',
  EAI_AGAIN: 'name',
};

function dialFailure(error: unknown): DialFailure {
  const { code } = error as { code?: string };
  return FAILURES[code ?? ''] ?? 'other';
}
