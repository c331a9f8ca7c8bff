import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteReader, relay, resetStream, type ByteCounter, type ByteStream, type RelayHandle } from '@gatehouse/net';
import { KEEP_ALIVE_MS, systemDialer } from '../dial.js';
import { PathKeeper } from '../direct/path-keeper.js';
import type { AgentDialer, HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError, type TunnelErrorCode } from '../errors.js';
import { VISITOR_PROTOCOL } from '../session/door.js';
import { PinnedServer } from '../session/pinned-tls.js';
import { FramedStream } from '../wire/framed-stream.js';
import { visitorRouteTag } from '../wire/route-tag.js';
import { decodeVisitAnswer, encodeVisit, type VisitAnswer } from '../wire/visit.js';
import { parseVisitorKey, type VisitorKey } from '../wire/visitor-key.js';

const BACKLOG = 512;
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
  server: HostAndPort;
  /** Key string of the tunnel, as the server's administration shows it. */
  key: string;
  logger: TunnelLogger;
  /** Absent: directly. */
  dialer?: Pick<AgentDialer, 'server'>;
  /** For the way to the tunnel, TLS and the server's answer included, milliseconds. */
  connectMs?: number;
  /** Whether connections to a tunnel of mode `p2p` may go to the agent directly. Absent: without a dialer they may. */
  p2p?: boolean;
}

/** How new connections go: to the agent, or through the server. */
export type VisitorRoute = 'direct' | 'relayed';

/** The other end of a `secret` or `p2p` tunnel: a local port that leads to the tunnel's target. */
export class TunnelVisitor {
  private readonly environment: TunnelVisitorEnvironment;
  private readonly key: VisitorKey;
  private readonly pinned: PinnedServer;
  private readonly server: Server;
  private readonly local = new Set<Socket>();
  private readonly running = new Set<RelayHandle>();
  private readonly paths: PathKeeper | null;
  /** Bytes either way, by how they went. */
  readonly carried: Readonly<Record<VisitorRoute, ByteCounter>> = {
    direct: { upload: 0, download: 0 },
    relayed: { upload: 0, download: 0 },
  };

  /** @throws TunnelError `key_string`. */
  constructor(environment: TunnelVisitorEnvironment) {
    this.environment = environment;
    this.key = parseVisitorKey(environment.key);
    this.pinned = new PinnedServer(this.key.fingerprint, visitorRouteTag(this.key.tunnelId));
    const { server, logger, dialer, p2p = dialer === undefined } = environment;
    const { key, pinned } = this;
    this.paths = p2p ? new PathKeeper({ server, key, pinned, logger }) : null;
    const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
    this.server = createServer({ ...options, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) => this.accept(socket));
  }

  /** Opens the local port and answers it. @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  listen({ host, port }: HostAndPort): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        this.server.on('error', (error) => this.environment.logger.error('the port failed', { error: error.message }));
        this.paths?.start();
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  /** How the next connection goes. */
  get route(): VisitorRoute {
    return this.paths?.path ? 'direct' : 'relayed';
  }

  /** Ends the port and all connections. */
  stop(): void {
    this.server.close();
    this.paths?.stop();
    for (const handle of this.running) handle.stop();
    for (const socket of this.local) resetStream(socket);
  }

  /**
   * Shows the key once and leaves again, to say at the start what would fail later.
   * @throws TunnelError `unauthorized`, `disabled`, `overloaded`, `offline`, `server_key`, `timeout`, `connection`.
   */
  async probe(): Promise<void> {
    (await this.visit()).destroy();
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
    const stream: ByteStream = direct ?? new FramedStream(await this.visit());
    if (socket.destroyed) return void stream.destroy();
    const counter = this.carried[direct ? 'direct' : 'relayed'];
    const handle = relay(socket, stream, counter, { onClose: () => this.running.delete(handle) });
    this.running.add(handle);
  }

  /** A connection that leads to the target. */
  private async visit(): Promise<TLSSocket> {
    const { server, dialer = systemDialer, connectMs = 10_000 } = this.environment;
    const transport = await dialer.server(server, connectMs);
    const stream = await this.pinned.secure(transport, VISITOR_PROTOCOL, connectMs);
    const timer = setTimeout(() => stream.destroy(new TunnelError('timeout', 'no answer in time')), connectMs);
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
