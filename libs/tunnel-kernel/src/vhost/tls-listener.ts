import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { createHttpsServer, createTlsServer, guardPromise, PendingConnections } from '@gatehouse/net';
import { CIPHERS, MIN_TLS_VERSION, type CertificateTable, type ServerCertificate } from './certificate-table.js';
import { readClientHello, refuseServerName } from './client-hello.js';
import { http1Options, type Http1Listener } from './http1-listener.js';
import { Http2Listener } from './http2-listener.js';
import type { ListenerContext } from './listener-context.js';
import type { TlsPassthrough } from './tls-passthrough.js';

/** Upper bound for unfinished TLS handshakes. */
export const MAX_UNIDENTIFIED = 4096;
/** One source address may use this fraction of them: one in four. */
const SOURCES = 4;

type SniDone = (error: Error | null, context?: SecureContext) => void;

/** Connections to the gateway itself, under names without a certificate. */
export interface GatewayConnections {
  /** The name for clients that do not offer HTTP/2. No host has it. */
  certificate: ServerCertificate;
  /** Serves the connection after its handshake. */
  accept(socket: TLSSocket): void;
}

export interface TlsOptions extends ListenerContext {
  certificates: CertificateTable;
  /** The certificate for visitors that send no server name. */
  fallback: ServerCertificate | undefined;
  http1: Http1Listener;
  /** Certificate for an authority that validates `name` (RFC 8737); null: none is expected. */
  acmeTlsAlpn: (name: string) => ServerCertificate | null;
  own: GatewayConnections;
  passthrough: Pick<TlsPassthrough, 'hostFor' | 'accept'>;
  maxUnidentified: number;
  /** From accept to the end of the handshake, in milliseconds. */
  helloMs: number;
}

/** Visitors over TLS: their server name selects the certificate, and the negotiated protocol the rest. */
export class TlsListener {
  readonly server: Server;
  readonly http2: Http2Listener;
  private readonly options: TlsOptions;
  private readonly acme: TlsServer;
  private readonly own: TlsServer;
  /** From accept to the end of the handshake, by far end. */
  readonly pending: PendingConnections<string>;

  constructor(options: TlsOptions) {
    this.options = options;
    this.pending = new PendingConnections({
      max: options.maxUnidentified,
      maxPerSource: Math.ceil(options.maxUnidentified / SOURCES),
      timeoutMs: options.helloMs,
    });
    const covers = (socket: Socket, host: string): boolean => this.covers(socket as TLSSocket, host);
    this.http2 = new Http2Listener(options, covers);
    this.server = createHttpsServer({
      ...http1Options(options),
      ALPNProtocols: ['h2', 'http/1.1'],
      // For visitors without a server name, for which Node does not call `SNICallback`.
      ...(options.fallback ? { cert: options.fallback.chain, key: options.fallback.key } : {}),
      SNICallback: (name, done) => guardPromise(null, this.select(name, done)),
      ciphers: CIPHERS,
      minVersion: MIN_TLS_VERSION,
      honorCipherOrder: true,
      handshakeTimeout: options.helloMs,
    });
    options.http1.attach(this.server as HttpServer, covers);
    this.acme = this.acmeServer();
    this.own = this.ownServer();
    this.splitProtocols();
    this.readNamesFirst();
  }

  private async select(name: string, done: SniDone): Promise<void> {
    let context: SecureContext | null = null;
    try {
      context = await this.options.certificates.context(name.toLowerCase());
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.options.logger.warn('no certificate for a visitor', { name, error: message });
    }
    if (context) done(null, context);
    else done(new Error(`no certificate for ${name}`));
  }

  private covers({ servername }: TLSSocket, host: string): boolean {
    // A visitor that sent no name was shown the default certificate.
    if (!servername || servername === host) return true;
    const said = servername.toLowerCase();
    return said === host || this.options.certificates.covers(said, host);
  }

  private splitProtocols(): void {
    const { server, http2, options } = this;
    const http1 = server.listeners('secureConnection');
    server.removeAllListeners('secureConnection');
    server.on('secureConnection', (socket: TLSSocket) => {
      this.pending.delete(farEndOf(socket));
      if (socket.alpnProtocol === 'h2') http2.accept(socket);
      else for (const listener of http1) listener.call(server, socket);
    });
    // `clientError` would answer in plain HTTP.
    server.removeAllListeners('tlsClientError');
    server.on('tlsClientError', (error, socket) => {
      options.logger.debug('TLS of a visitor failed', { error: error.message });
      // Node leaves this to the listener.
      socket.destroy();
    });
  }

  private readNamesFirst(): void {
    const { server } = this;
    const secure = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const toTls = (): void => {
        for (const listener of secure) listener.call(server, socket);
      };
      guardPromise(socket, this.identify(socket, toTls));
    });
  }

  private async identify(socket: Socket, secure: () => void): Promise<void> {
    const { certificates, acmeTlsAlpn, logger, passthrough, proxies } = this.options;
    socket.on('error', () => undefined);
    const far = farEndOf(socket);
    const { remoteAddress = null } = socket;
    // A proxy in front stands for many visitors.
    const source = remoteAddress !== null && proxies.has(remoteAddress) ? null : remoteAddress;
    this.pending.add(far, socket, undefined, source);
    socket.on('close', () => this.pending.delete(far));
    try {
      const hello = await readClientHello(socket);
      if (!hello) return void socket.destroy();
      if (hello.acme && hello.serverName !== null && acmeTlsAlpn(hello.serverName)) {
        return void this.acme.emit('connection', socket);
      }
      const passed = passthrough.hostFor(hello.serverName);
      if (passed) {
        this.pending.delete(far);
        passthrough.accept(passed, socket);
        return;
      }
      const context = await certificates.context(hello.serverName);
      if (socket.destroyed) return;
      if (context !== null) secure();
      // Browsers offer HTTP/2, and say clearly what the alert means.
      else if (hello.http2) refuseServerName(socket);
      else this.own.emit('connection', socket);
    } catch (error) {
      logger.warn('no certificate for a visitor', { error: error instanceof Error ? error.message : String(error) });
      socket.destroy();
    }
  }

  private ownServer(): TlsServer {
    const { own, helloMs } = this.options;
    const server = createTlsServer({
      ALPNProtocols: ['http/1.1'],
      cert: own.certificate.chain,
      key: own.certificate.key,
      ciphers: CIPHERS,
      minVersion: MIN_TLS_VERSION,
      honorCipherOrder: true,
      handshakeTimeout: helloMs,
    });
    server.on('secureConnection', (socket) => {
      this.pending.delete(farEndOf(socket));
      own.accept(socket);
    });
    server.on('tlsClientError', (_, socket) => socket.destroy());
    return server;
  }

  private acmeServer(): TlsServer {
    const server = createTlsServer({
      ALPNProtocols: ['acme-tls/1'],
      handshakeTimeout: this.options.helloMs,
      SNICallback: (name, done) => {
        const certificate = this.options.acmeTlsAlpn(name.toLowerCase());
        if (!certificate) return done(new Error('no challenge'));
        done(null, createSecureContext({ cert: certificate.chain, key: certificate.key }));
      },
    });
    // Showing the certificate was the whole purpose.
    server.on('secureConnection', (socket) => socket.on('error', () => undefined).destroySoon());
    server.on('tlsClientError', (_, socket) => socket.destroy());
    return server;
  }
}

function farEndOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
