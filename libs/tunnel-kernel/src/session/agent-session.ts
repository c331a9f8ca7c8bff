import type { TLSSocket } from 'node:tls';
import { setFlowTimeout } from '@gatehouse/net';
import { asTunnelError, TunnelError } from '../errors.js';
import {
  PROTOCOL_VERSION,
  type ConfigMessage,
  type CarriedMessage,
  type ChannelTicket,
  type CloseMessage,
  type EdgesMessage,
  type Message,
  type PathStateMessage,
  type RefusedMessage,
  type RendezvousEndMessage,
  type RendezvousMessage,
  type WelcomeMessage,
} from '../wire/messages.js';
import { ControlLink } from './control-link.js';
import { CONTROL_PROTOCOL } from './agent-listener.js';
import type { PinnedServer } from './pinned-tls.js';
import type { ServerRoute } from './server-route.js';

export interface AgentSessionOptions {
  route: ServerRoute;
  pinned: PinnedServer;
  secret: string;
  agentId: string;
  epoch: number;
  software: string;
  /** Number of this connection among those of the run. */
  slot: number;
  /** Whether other agents may serve the client beside this one. */
  replica: boolean;
  /** For connecting, TLS and the welcome together. */
  connectMs: number;
  /** Refuses a server that asks for unsealed data channels. */
  requireEncryption: boolean;
}

export interface AgentSessionHandlers {
  welcomed(welcome: WelcomeMessage): void;
  configured(config: ConfigMessage): void;
  tickets(tickets: ChannelTicket[]): void;
  move(spreadMs: number): void;
  /** The edges of the gateway. */
  edges(edges: EdgesMessage): void;
  /** The server opens or ends a direct path. */
  path(order: RendezvousMessage | RendezvousEndMessage): void;
  /** Called once. `retryAfterMs`: the pause that the server asked for. */
  closed(error: TunnelError, retryAfterMs: number | null): void;
}

const NO_CONTEXT = Buffer.alloc(0);

/** The agent's end of one control connection. */
export class AgentSession {
  private readonly options: AgentSessionOptions;
  private readonly handlers: AgentSessionHandlers;
  private readonly timer: NodeJS.Timeout;
  private link: ControlLink | null = null;
  private stream: TLSSocket | null = null;
  private greeting: WelcomeMessage | null = null;
  private farewell: CloseMessage | null = null;
  private ended = false;

  constructor(options: AgentSessionOptions, handlers: AgentSessionHandlers) {
    this.options = options;
    this.handlers = handlers;
    this.timer = setFlowTimeout(
      { destroy: (error) => this.finish(asTunnelError(error)) },
      () => this.close(new TunnelError('timeout', 'the server did not answer in time')),
      options.connectMs,
    );
    this.open().catch((error: unknown) => this.finish(asTunnelError(error)));
  }

  /** Null until the server's welcome. */
  get welcome(): WelcomeMessage | null {
    return this.greeting;
  }

  get route(): ServerRoute {
    return this.options.route;
  }

  /** Whether TLS resumed an earlier session, in which the server shows no key. */
  get resumed(): boolean {
    return this.stream?.isSessionReused() ?? false;
  }

  /** Address of the server; null where something else lies between. */
  get address(): string | null {
    return this.stream?.remoteAddress ?? null;
  }

  /** Keying material from the connection's TLS (RFC 5705). Null before TLS. */
  get exportKeys(): ((bytes: number, label: string) => Buffer) | null {
    const { stream } = this;
    return stream && ((bytes, label) => stream.exportKeyingMaterial(bytes, label, NO_CONTEXT));
  }

  refuse(message: Omit<RefusedMessage, 'type'>): void {
    this.link?.send({ type: 'refused', ...message });
  }

  send(message: PathStateMessage | CarriedMessage): void {
    this.link?.send(message);
  }

  /** Announces to the server that the agent is leaving and wants no more channels. */
  leave(): void {
    if (this.greeting) this.link?.send({ type: 'leaving' });
  }

  close(error: TunnelError): void {
    this.link?.close(error);
    this.finish(error);
  }

  private async open(): Promise<void> {
    const { route, pinned, connectMs, secret, agentId, epoch, software, slot, replica } = this.options;
    const transport = await route.open(connectMs);
    if (this.ended) return void transport.destroy();
    const stream = await pinned.secure(transport, CONTROL_PROTOCOL, connectMs);
    if (this.ended) return void stream.destroy();
    this.stream = stream;
    this.link = new ControlLink(stream, 'agent', {
      message: (message) => this.receive(message),
      closed: (error) => this.finish(error),
    });
    const auth = { versions: [PROTOCOL_VERSION], secret, agentId, epoch, software, longRecords: true };
    this.link.send({ type: 'auth', ...auth, ...(slot > 0 && { slot }), ...(replica && { replica }) });
  }

  private receive(message: Message): void {
    if (message.type === 'close') {
      this.farewell = message;
      this.close(new TunnelError(message.code, message.message));
    } else if (message.type === 'welcome' && !this.greeting) this.start(message);
    else if (!this.greeting) throw new TunnelError('protocol', `${message.type} before the welcome`);
    else if (message.type === 'config') this.handlers.configured(message);
    else if (message.type === 'channels') this.handlers.tickets(message.tickets);
    else if (message.type === 'move') this.handlers.move(message.spreadMs);
    else if (message.type === 'edges') this.handlers.edges(message);
    else if (message.type === 'rendezvous' || message.type === 'rendezvousEnd') this.handlers.path(message);
    else throw new TunnelError('protocol', `${message.type} out of turn`);
  }

  private start(welcome: WelcomeMessage): void {
    if (welcome.version !== PROTOCOL_VERSION) throw new TunnelError('version', `version ${welcome.version}`);
    if (this.options.requireEncryption && !welcome.encrypt) {
      throw new TunnelError(
        'unencrypted',
        'the gateway wants unencrypted data channels, and this agent requires encryption',
      );
    }
    clearTimeout(this.timer);
    this.greeting = welcome;
    this.link?.startHeartbeat(welcome.heartbeatMs);
    this.handlers.welcomed(welcome);
  }

  private finish(error: TunnelError): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    this.options.route.release();
    this.handlers.closed(error, this.farewell?.retryAfterMs ?? null);
  }
}
