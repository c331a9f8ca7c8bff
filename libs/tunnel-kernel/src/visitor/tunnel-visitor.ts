import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  type ByteCounter,
  ByteReader,
  type ByteStream,
  createTcpServer,
  listenTcp,
  relay,
  type RelayHandle,
  resetStream,
  setFlowTimeout,
} from '@gatehouse/net';
import { KEEP_ALIVE_MS, systemDialer } from '../dial.js';
import { PathConnector } from '../direct/path-connector.js';
import type { AgentDialer, HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError, type TunnelErrorCode } from '../errors.js';
import { VISITOR_PROTOCOL } from '../session/agent-listener.js';
import { PinnedServer } from '../session/pinned-tls.js';
import { RouteChooser, webSocketOf, type AgentTransport } from '../session/route-chooser.js';
import type { ServerRoute } from '../session/server-route.js';
import { formatWebSocketAddress, type WebSocketAddress } from '../websocket/handshake.js';
import { FramedStream } from '../wire/framed-stream.js';
import { visitorRouteTag } from '../wire/route-tag.js';
import { decodeVisitAnswer, encodeVisit, type VisitAnswer } from '../wire/visit.js';
import { pinsOf } from '../wire/key-string.js';
import { parseVisitorKey, type VisitorKey } from '../wire/visitor-key.js';
import { VisitorRoutes } from './visitor-routes.js';

/** Shorter than the interval of agents: proxies close idle connections after a minute, some after half a minute. */
const KEEP_WEBSOCKET_MS = 10_000;
const CONNECT_MS = 10_000;
/** Factor for the server's answer: it waits for the agent itself, as long as `CONNECT_MS`. */
const ANSWER = 1.5;
const CODES: Readonly<Record<Exclude<VisitAnswer, 'welcome'>, TunnelErrorCode>> = {
  relay: 'protocol',
  unauthorized: 'unauthorized',
  denied: 'disabled',
  overloaded: 'overloaded',
  offline: 'offline',
};
const REASONS: Readonly<Record<Exclude<VisitAnswer, 'welcome'>, string>> = {
  relay: 'the server answered another question',
  unauthorized: 'the key does not open the tunnel',
  denied: 'the gateway does not let this address in, or the client is switched off',
  overloaded: 'the client has too many visitors just now',
  offline: 'the agent of the tunnel is not connected',
};

export interface TunnelVisitorEnvironment {
  /** The server's port for agents. */
  server: HostAndPort;
  /** Absent: `auto`. */
  transport?: AgentTransport;
  /** The server's address for WebSockets. Absent: `/__gw/agent` on port 443 of its host, over TLS. */
  websocket?: WebSocketAddress;
  /** Key string of the tunnel, as the gateway's console shows it. */
  key: string;
  logger: TunnelLogger;
  /** Absent: connects directly. */
  dialer?: Pick<AgentDialer, 'server'>;
  /** Time limit for each step on the way to the tunnel, in milliseconds. */
  connectMs?: number;
  /** Milliseconds since the epoch. Absent: `Date.now`. */
  now?: () => number;
  /**
   * Whether connections to a tunnel of mode `p2p` may go directly to the agent, where this machine can connect to more
   * than WebSockets. Absent: yes, unless a dialer is set.
   */
  p2p?: boolean;
}

/** Whether new connections go directly to the agent, or through the server. */
export type VisitorRoute = 'direct' | 'relayed';

/** The other end of a `secret` or `p2p` tunnel: a local port that leads to the tunnel's target. */
export class TunnelVisitor {
  private readonly environment: TunnelVisitorEnvironment;
  private readonly key: VisitorKey;
  private readonly pinned: PinnedServer;
  private readonly routes: VisitorRoutes;
  private readonly server: Server;
  private readonly local = new Set<Socket>();
  private readonly running = new Set<RelayHandle>();
  private readonly paths: PathConnector | null;
  /** Bytes in both directions, by route. */
  readonly carried: Readonly<Record<VisitorRoute, ByteCounter>> = {
    direct: { upload: 0, download: 0 },
    relayed: { upload: 0, download: 0 },
  };

  /** @throws TunnelError `key_string`. */
  constructor(environment: TunnelVisitorEnvironment) {
    this.environment = environment;
    this.key = parseVisitorKey(environment.key);
    const routeTag = visitorRouteTag(this.key.tunnelId);
    this.pinned = new PinnedServer(pinsOf(this.key), routeTag);
    this.routes = this.createRoutes(routeTag);
    const { server, logger, dialer, transport, p2p = dialer === undefined } = environment;
    const { key, pinned } = this;
    this.paths = p2p && transport !== 'websocket' ? new PathConnector({ server, key, pinned, logger }) : null;
    const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
    this.server = createTcpServer({ ...options, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) =>
      this.accept(socket),
    );
  }

  /** Opens the local port and returns it. @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  async listen(place: HostAndPort): Promise<number> {
    const { logger } = this.environment;
    const port = await listenTcp(this.server, place, ({ message }) =>
      logger.error('the port failed', { error: message }),
    );
    this.paths?.start();
    return port;
  }

  /** The route of the next connection. */
  get route(): VisitorRoute {
    return this.paths?.path ? 'direct' : 'relayed';
  }

  /** Closes the port and all connections. */
  stop(): void {
    this.server.close();
    this.paths?.stop();
    for (const handle of this.running) handle.stop();
    for (const socket of this.local) resetStream(socket);
    this.routes.stop();
  }

  /**
   * Shows the key once and disconnects, so that errors appear at the start. @throws TunnelError `unauthorized`,
   * `disabled`, `overloaded`, `offline`, or why the server was not reached: `server_key`, `misdirected`, `timeout`,
   * `connection`, `protocol`.
   */
  async probe(): Promise<void> {
    (await this.routes.connect()).destroy();
  }

  private accept(socket: Socket): void {
    socket.on('error', () => undefined);
    this.local.add(socket);
    socket.on('close', () => this.local.delete(socket));
    this.join(socket).catch((error: unknown) => {
      resetStream(socket);
      const code = error instanceof TunnelError ? error.code : 'connection';
      this.environment.logger.warn('the tunnel was not reached', { code, reason: (error as Error).message });
    });
  }

  private async join(socket: Socket): Promise<void> {
    const direct = this.paths?.path?.open();
    const stream: ByteStream = direct ?? new FramedStream(await this.routes.connect());
    if (socket.destroyed) return void stream.destroy();
    const counter = this.carried[direct ? 'direct' : 'relayed'];
    const handle = relay(socket, stream, counter, { onClose: () => this.running.delete(handle) });
    this.running.add(handle);
  }

  private createRoutes(routeTag: string): VisitorRoutes {
    const { server, transport = 'auto', websocket, logger, dialer = systemDialer, now = Date.now } = this.environment;
    const chooser = new RouteChooser({
      dialer,
      server,
      transport,
      websocket,
      routeTag,
      now,
      // A visitor's connection cannot wait until a server is back.
      patience: 1,
      keepAliveMs: KEEP_WEBSOCKET_MS,
    });
    const webSocketName = formatWebSocketAddress(websocket ?? webSocketOf(server));
    return new VisitorRoutes({
      chooser,
      logger,
      webSocketName,
      visit: (route) => this.visit(route),
      probe: async (route) => void (await this.secure(route)).destroy(),
    });
  }

  private async secure(route: ServerRoute): Promise<TLSSocket> {
    const { connectMs = CONNECT_MS } = this.environment;
    return this.pinned.secure(await route.open(connectMs), VISITOR_PROTOCOL, connectMs);
  }

  /** Opens a connection that leads to the target. */
  private async visit(route: ServerRoute): Promise<TLSSocket> {
    const stream = await this.secure(route);
    const { connectMs = CONNECT_MS } = this.environment;
    const timer = setFlowTimeout(
      stream,
      () => stream.destroy(new TunnelError('timeout', 'no answer in time')),
      connectMs * ANSWER,
    );
    try {
      stream.write(encodeVisit({ ...this.key, purpose: 'connection' }));
      const reader = new ByteReader(stream, 1);
      const answer = decodeVisitAnswer((await reader.read(1))[0] ?? -1);
      if (answer !== 'welcome') throw new TunnelError(CODES[answer], REASONS[answer]);
      reader.restore();
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
