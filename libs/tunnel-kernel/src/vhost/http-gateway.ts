import type { TrustedProxies } from '../access/trusted-proxies.js';
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { createHttpServer, type ListeningSockets } from '@gatehouse/net';
import type { TunnelServerConfig, HostConfig } from '../config.js';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import type { ModeContext } from '../modes/mode.js';
import { RequestRecorder } from '../recording/request-recorder.js';
import { CertificateTable, type ServerCertificate } from './certificate-table.js';
import { RequestDispatcher } from './request-dispatcher.js';
import { Http1Listener, http1Options } from './http1-listener.js';
import type { ListenerContext } from './listener-context.js';
import { MAX_UNIDENTIFIED, TlsListener, type GatewayConnections } from './tls-listener.js';
import { TlsPassthrough } from './tls-passthrough.js';
import type { LogRequest } from './request-log.js';
import type { ReplayRefusal, ReplayRequest } from './replay.js';
import { HealthChecks, type CheckedTarget, type HealthChecksOptions } from './health-checks.js';
import { askTarget } from './target-question.js';
import { UpstreamTable } from './upstreams.js';
import type { TraceVisit } from './visit-traces.js';

/** What the HTTP side of a server gets from outside; everything has a default. */
export interface HttpOptions {
  /**
   * For visitors that name no host with a certificate. Absent: browsers get the alert `unrecognized_name`, and agents the
   * gateway's own certificate.
   */
  defaultCertificate?: ServerCertificate;
  /** Called for names of hosts without a certificate of their own. */
  certificate?(name: string): ServerCertificate | null | Promise<ServerCertificate | null>;
  /** Answers a challenge of ACME's HTTP-01; null: there is none. */
  acmeChallenge?(token: string): string | null;
  /** Certificate for ACME's TLS-ALPN-01; null: no challenge is expected. */
  acmeTlsAlpn?(name: string): ServerCertificate | null;
  /** PEM texts of authorities that `https` targets are verified against; absent: Node's. */
  targetAuthorities?: string[];
  /** The port that visitors use for https, if it differs from the listening port. */
  publicHttpsPort?: number;
  /**
   * For several processes: whether this one serves a name. A connection of a trusted proxy then takes only one request,
   * because the next one may belong to another process.
   */
  serves?(name: string): boolean;
  /** Names of cookies that targets never see, without `__Host-`: those of consoles and sites on the same names. */
  withheldCookies?: readonly string[];
  /** Observes admitted requests, and gives the target what continues their trace. */
  trace?: TraceVisit;
  /** Called for each request that could be read, when it is over. Absent: nothing is done for that. */
  log?: LogRequest;
  /** Upper bound for unfinished TLS handshakes. Absent: 4096. */
  maxUnidentified?: number;
  /** Milliseconds. */
  timeouts?: { hello?: number; head?: number; answer?: number; connect?: number; stall?: number };
}

/** Agents that come to the ports for visitors. */
export interface AgentConnections extends GatewayConnections {
  /** An agent opens a WebSocket. */
  upgrade(request: IncomingMessage, socket: Socket): void;
}

const HELLO_MS = 10_000;
const HEAD_MS = 30_000;
const ANSWER_MS = 60_000;
const CONNECT_MS = 10_000;
/** This is long because the system may buffer a megabyte for a visitor on a slow line before it accepts more. */
const STALL_MS = 300_000;
const MAX_CONNECTIONS = 32_768;

/** TLS handshakes of visitors. */
export interface HttpsPortState {
  handshaking: number;
  /** Upper bound. */
  most: number;
  /** Handshakes that were reset to make room for others, since the start. */
  evicted: number;
}

/** Virtual hosts: ports for visitors that speak HTTP, and connections to the targets behind agents. */
export class HttpGateway {
  private readonly dispatcher: RequestDispatcher;
  private readonly upstreams: UpstreamTable;
  private readonly health: HealthChecks;
  private readonly certificates: CertificateTable;
  private readonly passthrough: TlsPassthrough;
  private readonly http1: Http1Listener;
  private readonly listening: ListenerContext;
  private readonly options: HttpOptions;
  /** The last requests of hosts whose owners want to see them. */
  readonly recorder: RequestRecorder;
  private readonly sockets: ListeningSockets;
  private readonly agents: AgentConnections;
  private readonly plain: Server[] = [];
  private readonly secure: TlsListener[] = [];
  private httpsPort: number | null;
  private draining = false;
  /** Open connections that another process passed on. */
  private handed = 0;

  /** `proxies`: trusted to name the visitor (`X-Forwarded-For` and the like). */
  constructor(
    context: ModeContext,
    proxies: TrustedProxies,
    options: HttpOptions,
    agents: AgentConnections,
    checks: Pick<HealthChecksOptions, 'isOnline' | 'onChange'>,
  ) {
    const { timeouts = {} } = options;
    this.options = options;
    this.sockets = context.sockets;
    this.agents = agents;
    this.httpsPort = options.publicHttpsPort ?? null;
    const downOf = (hostId: number): ReadonlySet<number> | null => this.health.downOf(hostId);
    this.upstreams = new UpstreamTable({
      channels: context.channels,
      now: context.now,
      connectMs: timeouts.connect ?? CONNECT_MS,
      answerMs: timeouts.answer ?? ANSWER_MS,
      authorities: options.targetAuthorities,
      downOf,
    });
    this.health = new HealthChecks({ ...context, ...checks, upstreams: this.upstreams });
    this.certificates = new CertificateTable({
      logger: context.logger,
      fallback: options.defaultCertificate,
      provide: options.certificate?.bind(options),
    });
    this.passthrough = new TlsPassthrough({ context, connectMs: timeouts.connect ?? CONNECT_MS, downOf });
    this.recorder = new RequestRecorder(context.now);
    this.dispatcher = new RequestDispatcher({
      context,
      recorder: this.recorder,
      upstreams: this.upstreams,
      stallMs: timeouts.stall ?? STALL_MS,
      trace: options.trace,
      log: options.log,
      proxies,
      acmeChallenge: (token) => options.acmeChallenge?.(token) ?? null,
      httpsPort: () => this.httpsPort,
      withheldCookies: options.withheldCookies ?? [],
      serves: (name) => options.serves?.(name) ?? true,
    });
    this.listening = this.listenerContext(context.logger, proxies);
    this.http1 = new Http1Listener(this.listening);
  }

  private listenerContext(logger: TunnelLogger, proxies: TrustedProxies): ListenerContext {
    return {
      dispatcher: this.dispatcher,
      proxies,
      logger,
      headMs: this.options.timeouts?.head ?? HEAD_MS,
      draining: () => this.draining,
      shared: this.options.serves !== undefined,
      agentUpgrade: (request, socket) => this.agents.upgrade(request, socket),
    };
  }

  /** Applies to the next request and the next handshake. */
  apply({ hosts, clients }: Pick<TunnelServerConfig, 'hosts' | 'clients'>): void {
    this.certificates.apply(hosts);
    this.passthrough.apply(hosts);
    this.dispatcher.apply(hosts);
    this.recorder.apply(hosts);
    this.health.apply(hosts, clients);
  }

  agentLeft(clientId: number): void {
    this.upstreams.agentLeft(clientId);
  }

  /**
   * Status of what one target of the host answers to `HEAD`. @throws TunnelError, and errors of undici for what is no
   * answer in HTTP
   */
  async ask(host: HostConfig, timeoutMs: number): Promise<number> {
    const upstreams = this.upstreams.of(host);
    // Whoever asks where all are down wants to know why.
    const upstream = upstreams.pick([]) ?? (upstreams.allDown ? upstreams.at(0) : null);
    if (!upstream) throw new TunnelError('overloaded', 'too many requests');
    return askTarget(upstream, host, { method: 'HEAD', path: host.location, timeoutMs });
  }

  /** The targets of these hosts, where they are checked. */
  checkedTargets(hostIds: readonly number[]): CheckedTarget[] {
    return this.health.states(hostIds);
  }

  /** Sends a recorded request of the host again; returns the id of its own record. */
  replay(host: HostConfig, request: ReplayRequest): { id: string } | { refusal: ReplayRefusal } {
    const record = this.dispatcher.replay(host, request);
    return typeof record === 'string' ? { refusal: record } : { id: this.recorder.idOf(record) };
  }

  /** Returns the port. @throws Error of `listen`. */
  async listenHttp(address: HostAndPort): Promise<number> {
    return this.listen(this.plainServer(), address);
  }

  /** Returns the port. @throws Error of `listen`. */
  async listenHttps(address: HostAndPort): Promise<number> {
    const port = await this.listen(this.tlsListener().server, address);
    this.httpsPort ??= port;
    return port;
  }

  /** Replaces both where connections are passed in by `take`. */
  serve(httpsPort: number): void {
    this.httpsPort ??= httpsPort;
    // Node enforces time limits only for servers that listen; these get connections that another process accepted.
    for (const server of [this.plainServer(), this.tlsListener().server]) server.emit('listening');
  }

  /** A connection that another process accepted. */
  take(port: 'http' | 'https', socket: Socket): void {
    socket.on('error', () => undefined);
    const server = port === 'http' ? this.plain[0] : this.secure[0]?.server;
    if (!server || this.draining || this.handed >= MAX_CONNECTIONS) return void socket.destroy();
    // As for the server's own connections: an upgraded connection may end one direction at a time.
    if (port === 'http') socket.allowHalfOpen = true;
    this.handed += 1;
    socket.once('close', () => {
      this.handed -= 1;
    });
    server.emit('connection', socket);
  }

  /** Connections that have not sent a request yet. */
  get fresh(): number {
    return this.secure.reduce((total, { pending }) => total + pending.size, this.http1.fresh);
  }

  /** Releases the ports; open connections may send more requests. */
  closePorts(): void {
    for (const server of [...this.plain, ...this.secure.map((listener) => listener.server)]) {
      // Not `server.close` of node:http, which also cuts off answers that have not been sent yet.
      NetServer.prototype.close.call(server);
    }
  }

  /** Releases the ports; running requests continue, and their connections end with them. */
  drain(): void {
    this.draining = true;
    this.closePorts();
    for (const { http2 } of this.secure) http2.drain();
    this.http1.drain();
  }

  /** Closes everything. */
  stop(): void {
    this.drain();
    for (const server of this.plain) server.closeAllConnections();
    for (const { server, http2 } of this.secure) {
      http2.destroy();
      server.closeAllConnections();
    }
    this.health.stop();
    this.upstreams.destroy();
    this.recorder.stop();
  }

  private listen(server: NetServer, address: HostAndPort): Promise<number> {
    const { logger } = this.listening;
    server.maxConnections = MAX_CONNECTIONS;
    return this.sockets.listenTcp(server, address, ({ message }) =>
      logger.error('visitors cannot connect', { error: message }),
    );
  }

  /** Visitors in their TLS handshake. */
  handshakes(): HttpsPortState {
    const listeners = this.secure.map(({ pending }) => pending);
    return {
      handshaking: listeners.reduce((total, { size }) => total + size, 0),
      most: this.options.maxUnidentified ?? MAX_UNIDENTIFIED,
      evicted: listeners.reduce((total, { evicted }) => total + evicted, 0),
    };
  }

  private plainServer(): Server {
    const server = createHttpServer(http1Options(this.listening));
    this.http1.attach(server, () => true);
    this.plain.push(server);
    return server;
  }

  private tlsListener(): TlsListener {
    const { options, certificates, http1 } = this;
    const listener = new TlsListener({
      ...this.listening,
      certificates,
      http1,
      fallback: options.defaultCertificate,
      acmeTlsAlpn: (name) => options.acmeTlsAlpn?.(name) ?? null,
      own: this.agents,
      passthrough: this.passthrough,
      maxUnidentified: options.maxUnidentified ?? MAX_UNIDENTIFIED,
      helloMs: options.timeouts?.hello ?? HELLO_MS,
    });
    this.secure.push(listener);
    return listener;
  }
}
