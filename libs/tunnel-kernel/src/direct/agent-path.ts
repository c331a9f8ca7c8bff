import { ByteReader, setFlowTimeout } from '@gatehouse/net';
import type { ChannelOwner, HandlerContext } from '../agent/channel-handler.js';
import { TargetHandler } from '../agent/target-handler.js';
import { TunnelError } from '../errors.js';
import { endpoint, type Endpoint } from '../base/endpoint.js';
import { MuxConnection } from '../mux/mux-connection.js';
import type { MuxStream } from '../mux/mux-stream.js';
import type { RendezvousMessage } from '../wire/messages.js';
import { DirectTransport } from './direct-transport.js';
import { MeetingPoint, type MeetingPointOptions } from './meeting-point.js';
import { PathLedger } from './path-ledger.js';
import { SILENT_MS, STREAM_KIND } from './streams.js';

/** Concurrent connections of one path. */
const MAX_STREAMS = 1024;
const MAX_HEAD_BYTES = 64 * 1024;
/** Time limit for the first byte of a stream. */
const KIND_MS = 5000;

export interface AgentPathOptions extends MeetingPointOptions {
  context: HandlerContext;
  onOver(path: AgentPath): void;
}

/** A direct path at the agent, or the attempt to make one. */
export class AgentPath {
  readonly id: string;
  readonly tunnelId: number;
  private readonly options: AgentPathOptions;
  private readonly visitor: Endpoint;
  private readonly meeting: MeetingPoint;
  private readonly ledger: PathLedger;
  private readonly targets: TargetHandler;
  /** Null while there is no control connection. */
  private owner: ChannelOwner | null;
  private readonly clientId: number;
  private entrance: Endpoint = { address: '', port: 0 };
  private mux: MuxConnection | null = null;
  private timer: NodeJS.Timeout | null = null;
  private ending = false;
  private over = false;

  constructor(message: RendezvousMessage, owner: ChannelOwner, options: AgentPathOptions) {
    this.id = message.id;
    this.tunnelId = message.tunnelId;
    this.visitor = message.visitor;
    this.owner = owner;
    this.clientId = owner.clientId;
    this.options = options;
    this.meeting = new MeetingPoint(message, options);
    this.ledger = new PathLedger(options.context.ledger, () => this.ending && this.destroy());
    this.targets = new TargetHandler({ ...options.context, ledger: this.ledger });
    this.begin().catch((error: unknown) => this.failed(error));
  }

  isOf(owner: ChannelOwner): boolean {
    return this.owner === owner;
  }

  /** Reports what was carried. */
  report(): void {
    const { owner, id } = this;
    const carried = owner && this.ledger.take();
    if (carried) owner.send({ type: 'carried', id, ...carried });
  }

  /** The agent has a new control connection. */
  adopt(owner: ChannelOwner): void {
    if (this.ending || !this.mux || owner.clientId !== this.clientId) return;
    if (this.timer) clearTimeout(this.timer);
    this.owner = owner;
    owner.send({ type: 'pathState', id: this.id, state: 'open' });
  }

  /** The control connection has ended: nobody could end the path now, so it may not last long. */
  orphan(graceMs: number): void {
    this.owner = null;
    if (!this.mux) return this.destroy();
    if (!this.ending) this.timer = setFlowTimeout(null, () => this.destroy(), graceMs);
  }

  /** Accepts no more connections. */
  end(graceMs: number): void {
    this.ending = true;
    if (this.timer) clearTimeout(this.timer);
    if (graceMs === 0 || this.ledger.size === 0) return this.destroy();
    this.timer = setFlowTimeout(null, () => this.destroy(), graceMs);
  }

  private destroy(): void {
    this.meeting.fail(new TunnelError('stopped', 'the path was ended'));
    if (this.mux) this.mux.destroy();
    else this.finish('over');
  }

  private async begin(): Promise<void> {
    const stream = await this.meeting.meet();
    if (this.over) return void stream.destroy();
    this.entrance = endpoint(stream.localAddress, stream.localPort);
    this.mux = new MuxConnection(new DirectTransport(stream, SILENT_MS), {
      onStream: (one) => this.receive(one),
      onClose: () => this.finish('over'),
    });
    const { id, tunnelId, visitor } = this;
    this.options.logger.info('a visitor is connected directly', { tunnel: tunnelId, address: visitor.address });
    if (!this.over) this.owner?.send({ type: 'pathState', id, state: 'open' });
  }

  private failed(error: unknown): void {
    if (this.over) return;
    const { logger } = this.options;
    logger.debug('there is no direct path', { tunnel: this.tunnelId, error: String(error) });
    this.finish('refused');
  }

  private finish(state: 'refused' | 'over'): void {
    if (this.over) return;
    this.over = true;
    this.ending = true;
    if (this.timer) clearTimeout(this.timer);
    this.report();
    this.owner?.send({ type: 'pathState', id: this.id, state });
    this.options.onOver(this);
  }

  private receive(stream: MuxStream): void {
    // The heartbeat counts as one more stream.
    if (this.ending || (this.mux?.size ?? 0) > MAX_STREAMS + 1) return stream.destroy();
    this.serve(stream).catch((error: unknown) => {
      this.options.logger.debug('a direct connection was given up', { tunnel: this.tunnelId, error: String(error) });
      stream.destroy();
    });
  }

  private async serve(stream: MuxStream): Promise<void> {
    const { owner, visitor, entrance, tunnelId } = this;
    const timer = setFlowTimeout(stream, () => stream.destroy(), KIND_MS);
    stream.once('close', () => clearTimeout(timer));
    const reader = new ByteReader(stream, MAX_HEAD_BYTES);
    const [kind] = await reader.read(1);
    clearTimeout(timer);
    if (kind === STREAM_KIND.heartbeat) return answerHeartbeats(stream, reader);
    if (kind !== STREAM_KIND.connection) throw new TunnelError('protocol', `a stream of kind ${kind}`);
    stream.widen();
    const start = {
      kind: 'tunnel' as const,
      id: tunnelId,
      target: null,
      destination: '',
      wantsAnswer: false,
      framed: false,
      reused: false,
      longRecords: false,
    };
    const channel = { start: { ...start, visitor, entrance }, stream, reader, id: this.id };
    await this.targets.serve({ ...channel, owner: owner ?? this.nobody() });
  }

  /** Stands in for the control connection while there is none. */
  private nobody(): ChannelOwner {
    const nothing = (): void => undefined;
    const open = (): Promise<never> => Promise.reject(new TunnelError('offline', 'not connected'));
    return { clientId: this.clientId, encrypt: true, route: { open }, refuse: nothing, send: nothing };
  }
}

function answerHeartbeats(stream: MuxStream, reader: ByteReader): void {
  // A peer that does not read the answers gets no further ones.
  stream.on('data', () => stream.isEmpty && stream.write(Buffer.of(STREAM_KIND.heartbeat)));
  stream.on('end', () => stream.end());
  reader.restore();
  stream.resume();
}
