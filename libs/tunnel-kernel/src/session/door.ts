import { createServer, Socket, type Server } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  TLSSocket,
  type SecureContext,
  type SecureContextOptions,
  type Server as TlsServer,
} from 'node:tls';
import {
  ByteReader,
  ByteStreamDuplex,
  Newcomers,
  resetStream,
  type ByteStream,
  type ListeningSockets,
} from '@gatehouse/net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { endpoint, farEnd } from '../modes/endpoint.js';
import { MuxStream } from '../mux/mux-stream.js';
import { channelKeys } from '../wire/sealed-records.js';
import { SealedStream } from '../wire/sealed-stream.js';
import { MAPPING_PROTOCOL } from '../wire/rendezvous.js';
import { OPENING_BYTES, OPENING_FIRST_BYTE } from '../wire/prelude.js';
import type { ServerIdentity } from '../wire/server-identity.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';
import type { Arrival } from './arrival.js';
import type { TicketBook } from './ticket-book.js';
import { WebSocketDoor, type WebSocketRequest } from './websocket-door.js';

/** Names of the uses of a TLS connection (ALPN). */
export const CONTROL_PROTOCOL = 'gwt/1';
export const VISITOR_PROTOCOL = 'gwv/1';

const PROTOCOLS = [CONTROL_PROTOCOL, VISITOR_PROTOCOL, MAPPING_PROTOCOL];
const TLS_FIRST_BYTE = 22;
/** Of `GET`; the second byte of a data channel's opening is another. */
const REQUEST_SECOND_BYTE = 0x45;
const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

export interface DoorOptions {
  identity: ServerIdentity;
  logger: TunnelLogger;
  book: TicketBook;
  sockets: ListeningSockets;
  /** From accept until the connection has said what it is. */
  handshakeMs: number;
  /** Connections that have not said yet what they are; as many are in TLS handshakes at most. */
  maxUnidentified: number;
  /** Proxies that are believed when they say whose WebSocket they carry. */
  proxies: TrustedProxies;
  /** Whether a WebSocket with this tag is for this process. */
  serves(tag: string): boolean;
  onControl(stream: TLSSocket, arrival: Arrival): void;
  /** A visitor's program; it has its own time limit from here on. */
  onVisitor(stream: TLSSocket, arrival: Arrival): void;
  /** An agent that shows where it is; it has its own time limit, too. */
  onMapping(stream: TLSSocket): void;
}

/**
 * The port that agents connect to: control connections in TLS, data channels, and WebSockets that carry many of either, by
 * their first bytes.
 */
export class Door {
  private readonly options: DoorOptions;
  private readonly server: Server;
  private readonly tls: TlsServer;
  private readonly webSockets: WebSocketDoor;
  private readonly secureContext: SecureContext;
  /** By the far end of their TCP socket. */
  private readonly newcomers: Newcomers<string>;
  /** Those that said TLS and are not through with the handshake: a TCP socket under TLS is not ours to destroy. */
  private readonly handshakes = new Set<string>();

  constructor(options: DoorOptions) {
    this.options = options;
    this.newcomers = new Newcomers({ most: options.maxUnidentified, silentMs: options.handshakeMs });
    this.server = createServer(
      {
        allowHalfOpen: true,
        pauseOnConnect: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      },
      (socket) => this.accepted(socket),
    );
    const { key, certificate: cert } = options.identity;
    const secureOptions: SecureContextOptions = {
      key,
      cert,
      minVersion: 'TLSv1.3',
      ciphers: CIPHERS,
      honorCipherOrder: true,
    };
    this.secureContext = createSecureContext(secureOptions);
    this.tls = createTlsServer({
      ...secureOptions,
      ALPNProtocols: PROTOCOLS,
      allowHalfOpen: true,
      handshakeTimeout: options.handshakeMs,
    });
    this.tls.on('secureConnection', (stream) => {
      const entrance = endpoint(stream.localAddress, stream.localPort);
      this.secured(stream, nameOf(stream), { from: farEnd(stream), entrance, via: 'tcp' });
    });
    this.webSockets = new WebSocketDoor({
      emptyMs: options.handshakeMs,
      proxies: options.proxies,
      serves: (tag) => options.serves(tag),
      onStream: (stream, arrival) => this.acceptedStream(stream, arrival),
    });
    this.tls.on('tlsClientError', (error) => options.logger.debug('TLS of an agent failed', { error: error.message }));
  }

  /** @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  listen(place: HostAndPort): Promise<number> {
    const { logger } = this.options;
    return this.options.sockets.listenTcp(this.server, place, ({ message }) =>
      logger.error('agents cannot connect', { error: message }),
    );
  }

  /** A connection that another process accepted: as if it had come to this port. */
  take(socket: Socket): void {
    socket.allowHalfOpen = true;
    this.accepted(socket);
  }

  /** Accepts no more; open connections go on. */
  close(): void {
    this.server.close();
  }

  /** A request for a WebSocket that came to another port; see `WebSocketDoor.upgrade`. */
  upgrade(request: WebSocketRequest, stream: Socket): void {
    this.webSockets.upgrade(request, stream);
  }

  /** Ends the connections that nobody else knows of. */
  destroyUnidentified(): void {
    this.newcomers.destroy();
  }

  /** Ends the WebSockets, with all that they carry, once last words have left. */
  closeWebSockets(): void {
    this.webSockets.close();
  }

  private accepted(socket: Socket): void {
    socket.on('error', () => undefined);
    this.receive(socket, nameOf(socket), null);
  }

  private acceptedStream(stream: MuxStream, arrival: Arrival): void {
    this.receive(stream, `${nameOf(stream)} ${stream.id}`, arrival);
  }

  /** `arrival`: of a stream, that of its WebSocket; of a TCP connection it is asked later. */
  private receive(stream: ByteStream, far: string, arrival: Arrival | null): void {
    this.newcomers.add(far, stream);
    stream.on('close', () => this.identified(far));
    this.route(stream, far, arrival).catch((error: unknown) => this.refuse(stream, error));
  }

  private async route(stream: ByteStream, far: string, arrival: Arrival | null): Promise<void> {
    const reader = new ByteReader(stream, OPENING_BYTES);
    const [first] = await reader.peek(1);
    if (first === TLS_FIRST_BYTE) {
      reader.restore();
      this.secure(stream, far, arrival);
    } else if (first !== OPENING_FIRST_BYTE) throw new TunnelError('protocol', 'neither TLS nor a data channel');
    else if ((await reader.peek(2))[1] === REQUEST_SECOND_BYTE && stream instanceof Socket) {
      reader.restore();
      await this.webSockets.receive(stream);
      this.identified(far);
    } else await this.openChannel(stream, reader, far);
  }

  private secure(stream: ByteStream, far: string, arrival: Arrival | null): void {
    if (!arrival) {
      if (this.handshakes.size >= this.options.maxUnidentified) return resetStream(stream);
      // From here on the TLS server has its own time limit.
      this.identified(far);
      this.handshakes.add(far);
      this.tls.emit('connection', stream);
      return;
    }
    const { secureContext } = this;
    const secured = new TLSSocket(new ByteStreamDuplex(stream), {
      isServer: true,
      secureContext,
      ALPNProtocols: PROTOCOLS,
    });
    secured.on('error', (error) => this.options.logger.debug('TLS of an agent failed', { error: error.message }));
    this.newcomers.add(far, secured);
    secured.once('secure', () => {
      this.secured(secured, far, arrival);
      if (stream instanceof MuxStream) stream.widen();
    });
  }

  private secured(stream: TLSSocket, far: string, arrival: Arrival): void {
    stream.on('error', () => undefined);
    if (stream.alpnProtocol === CONTROL_PROTOCOL) {
      // A control connection has its own time limit until it is authenticated.
      this.identified(far);
      this.options.onControl(stream, arrival);
    } else if (stream.alpnProtocol === VISITOR_PROTOCOL) {
      this.identified(far);
      this.options.onVisitor(stream, arrival);
    } else if (stream.alpnProtocol === MAPPING_PROTOCOL) {
      this.identified(far);
      this.options.onMapping(stream);
    } else stream.destroy();
  }

  private async openChannel(stream: ByteStream, reader: ByteReader, far: string): Promise<void> {
    const opening = await reader.read(OPENING_BYTES);
    const found = this.options.book.redeem(opening);
    if (!found) throw new TunnelError('unauthorized', 'no such ticket');
    this.identified(far);
    reader.restore();
    if (stream instanceof MuxStream) stream.widen();
    const { ticket, holder } = found;
    holder.admit(ticket, holder.sealed ? new SealedStream(stream, channelKeys(ticket), 'server') : stream);
  }

  private refuse(stream: ByteStream, error: unknown): void {
    this.options.logger.debug('a connection to the door was refused', {
      address: stream.remoteAddress,
      error: error instanceof Error ? error.message : String(error),
    });
    stream.destroy();
  }

  private identified(far: string): void {
    this.newcomers.delete(far);
    this.handshakes.delete(far);
  }
}

/** Names one connection of a port as long as it is open, the same on a TLS socket and on the TCP socket under it. */
function nameOf({ remoteAddress, remotePort }: ByteStream): string {
  return `${remoteAddress} ${remotePort}`;
}
