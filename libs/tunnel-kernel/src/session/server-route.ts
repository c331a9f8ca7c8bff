import type { ByteStream } from '@gatehouse/net';
import type { AgentDialer, HostAndPort } from '../environment.js';
import { MuxConnection, type MuxOptions } from '../mux/mux-connection.js';
import type { WebSocketAddress } from '../websocket/handshake.js';
import { dialWebSocket } from './websocket-dial.js';

/** How long the server's own address is tried. */
const OWN_MS = 3_000;

/** How an agent reaches its server during one session. */
export interface ServerRoute {
  readonly kind: 'raw' | 'websocket';
  /** Opens a connection to the port for agents: paused, with both directions ending independently. @throws Error */
  open(timeoutMs: number): Promise<ByteStream>;
  /** The server has told its own address, where a load balancer may lead elsewhere. */
  nearTo?(server: HostAndPort): void;
  /** No more connections will be opened. */
  release(): void;
}

/** One TCP connection for each. */
export class RawRoute implements ServerRoute {
  readonly kind = 'raw';
  private readonly dialer: Pick<AgentDialer, 'server'>;
  private readonly server: HostAndPort;
  /** Address of the server that answered; null: not told, or not reached from here. */
  private own: HostAndPort | null = null;

  constructor(dialer: Pick<AgentDialer, 'server'>, server: HostAndPort) {
    this.dialer = dialer;
    this.server = server;
  }

  async open(timeoutMs: number): Promise<ByteStream> {
    const { own } = this;
    if (own) {
      try {
        return await this.dialer.server(own, Math.min(timeoutMs, OWN_MS));
      } catch {
        // A network that lets only the known address through. Others pass on what comes to them.
        this.own = null;
      }
    }
    return this.dialer.server(this.server, timeoutMs);
  }

  nearTo(server: HostAndPort): void {
    if (server.host !== this.server.host || server.port !== this.server.port) this.own = server;
  }

  release(): void {
    // Nothing is shared.
  }
}

/** All of them as streams of one WebSocket, which is opened with the first. */
export class WebSocketRoute implements ServerRoute {
  readonly kind = 'websocket';
  private readonly dialer: Pick<AgentDialer, 'server'>;
  private readonly address: WebSocketAddress;
  private readonly options: MuxOptions;
  private connection: Promise<MuxConnection> | null = null;
  private released = false;

  constructor(dialer: Pick<AgentDialer, 'server'>, address: WebSocketAddress, options: MuxOptions = {}) {
    this.dialer = dialer;
    this.address = address;
    this.options = options;
  }

  async open(timeoutMs: number): Promise<ByteStream> {
    this.connection ??= this.connect(timeoutMs);
    return (await this.connection).open();
  }

  release(): void {
    this.released = true;
    this.connection?.then(
      (connection) => connection.release(),
      () => undefined,
    );
  }

  private async connect(timeoutMs: number): Promise<MuxConnection> {
    const connection = new MuxConnection(await dialWebSocket(this.dialer, this.address, timeoutMs), this.options);
    if (this.released) connection.release();
    return connection;
  }
}
