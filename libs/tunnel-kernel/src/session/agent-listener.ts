import { Socket, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteReader, type ByteStream, createTcpServer, type ListeningSockets } from '@gatehouse/net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { endpoint, farEnd } from '../base/endpoint.js';
import { MuxStream } from '../mux/mux-stream.js';
import type { ChannelTicket } from '../wire/messages.js';
import { channelKeys } from '../wire/sealed-records.js';
import { SealedStream } from '../wire/sealed-stream.js';
import { MAPPING_PROTOCOL } from '../wire/rendezvous.js';
import { OPENING_BYTES, OPENING_FIRST_BYTE, openingTicketId } from '../wire/prelude.js';
import { PASSED_BYTES, PASSED_THIRD_BYTE } from '../wire/passed-opening.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';
import { acceptTls } from './accept-tls.js';
import type { Arrival } from './arrival.js';
import type { ServerIdentities } from './server-identities.js';
import type { TicketTable } from './ticket-table.js';
import { UnknownConnections, type AgentPortState } from './unknown-connections.js';
import { WebSocketListener, type WebSocketRequest } from './websocket-listener.js';

/** ALPN names of the protocols on this port. */
export const CONTROL_PROTOCOL = 'gwt/1';
export const VISITOR_PROTOCOL = 'gwv/1';

/** What a `wss://` URL speaks. */
const WEB_PROTOCOL = 'http/1.1';

const PROTOCOLS = [CONTROL_PROTOCOL, VISITOR_PROTOCOL, MAPPING_PROTOCOL, WEB_PROTOCOL];
const TLS_FIRST_BYTE = 22;
/** The E of `GET`; the second byte of a data channel's opening is a different one. */
const REQUEST_SECOND_BYTE = 0x45;

export interface AgentListenerOptions {
  identities: ServerIdentities;
  logger: TunnelLogger;
  tickets: TicketTable;
  sockets: ListeningSockets;
  /** Time limit for each stage: the first bytes, the TLS handshake, and showing a key. */
  handshakeMs: number;
  /** Upper bound for each stage: silent connections, TLS handshakes, and connections that have not shown a key. */
  maxUnidentified: number;
  /** Proxies that are trusted to name the peer of a WebSocket. */
  proxies: TrustedProxies;
  /** Whether this process serves the WebSocket with this tag. */
  serves(tag: string): boolean;
  /** `known` must be called once the key was right. Until then the connection has a time limit and may be evicted. */
  onControl(stream: TLSSocket, arrival: Arrival, known: () => void): void;
  /** A visitor's program. */
  onVisitor(stream: TLSSocket, arrival: Arrival, known: () => void): void;
  /**
   * Passes a data channel on to the server that issued its ticket; `opening`: what was read of it. False: no other server
   * did. Absent: there are no others.
   */
  passOn?(ticketId: string, opening: Buffer, stream: ByteStream): boolean;
  /** An agent that reports its address. */
  onMapping(stream: TLSSocket, known: () => void): void;
}

/**
 * The port that agents connect to. The first bytes of a connection distinguish control connections over TLS, data channels,
 * and WebSockets that carry both apart.
 */
export class AgentListener {
  private readonly options: AgentListenerOptions;
  private readonly server: Server;
  private readonly webSockets: WebSocketListener;
  private readonly unknown: UnknownConnections;

  constructor(options: AgentListenerOptions) {
    this.options = options;
    this.unknown = new UnknownConnections({
      most: options.maxUnidentified,
      stageMs: options.handshakeMs,
      isShared: (address) => options.proxies.has(address),
    });
    this.server = createTcpServer(
      {
        allowHalfOpen: true,
        pauseOnConnect: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      },
      (socket) => this.accepted(socket),
    );
    this.webSockets = new WebSocketListener({
      emptyMs: options.handshakeMs,
      proxies: options.proxies,
      serves: (tag) => options.serves(tag),
      onStream: (stream, arrival) => this.acceptedStream(stream, arrival),
    });
  }

  /** @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  listen(place: HostAndPort): Promise<number> {
    const { logger } = this.options;
    return this.options.sockets.listenTcp(this.server, place, ({ message }) =>
      logger.error('agents cannot connect', { error: message }),
    );
  }

  /** Serves a connection that another process accepted, as if it had come to this port. */
  take(socket: Socket): void {
    socket.allowHalfOpen = true;
    this.accepted(socket);
  }

  /** Stops accepting; open connections stay. */
  close(): void {
    this.server.close();
  }

  /** Serves a connection over TLS that another port accepted for the gateway itself: WebSockets of agents, and nothing else. */
  takeSecure(stream: TLSSocket): void {
    const far = `web ${nameOf(stream)}`;
    const known = (): void => this.unknown.known(far);
    stream.on('error', () => undefined).on('close', known);
    this.unknown.enter('unauthenticated', far, stream, stream.remoteAddress);
    this.receiveRequest(stream, known);
  }

  /** Serves a request for a WebSocket that came to another port; see `WebSocketListener.upgrade`. */
  upgrade(request: WebSocketRequest, stream: Socket): void {
    this.webSockets.upgrade(request, stream);
  }

  /** Connections that have not authenticated yet. */
  get state(): AgentPortState {
    return this.unknown.state();
  }

  /** Closes the connections that no session owns yet. */
  destroyUnidentified(): void {
    this.unknown.destroy();
  }

  /** Closes the WebSockets and everything that they carry, once their last messages have been sent. */
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

  /** `arrival`: for a stream, that of its WebSocket; null for a TCP connection, for which it is read later. */
  private receive(stream: ByteStream, far: string, arrival: Arrival | null): void {
    this.unknown.enter('silent', far, stream, addressOf(stream, arrival));
    stream.on('close', () => this.unknown.known(far));
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
      this.unknown.known(far);
    } else await this.openChannel(stream, reader, far);
  }

  private secure(stream: ByteStream, far: string, arrival: Arrival | null): void {
    const { logger, identities } = this.options;
    const secured = acceptTls(stream, identities.context, {
      protocols: PROTOCOLS,
      contextFor: (tls, offered) => identities.contextFor(tls, offered),
      onError: (error) => logger.debug('TLS of an agent failed', { error: error.message }),
    });
    this.unknown.enter('handshaking', far, secured, addressOf(stream, arrival));
    secured.once('secure', () => {
      this.secured(secured, far, arrival ?? arrivalOf(secured));
      if (stream instanceof MuxStream) stream.widen();
    });
  }

  private secured(stream: TLSSocket, far: string, arrival: Arrival): void {
    const { options } = this;
    const known = (): void => this.unknown.known(far);
    this.unknown.enter('unauthenticated', far, stream, arrival.from?.address);
    if (stream.alpnProtocol === CONTROL_PROTOCOL) options.onControl(stream, arrival, known);
    else if (stream.alpnProtocol === VISITOR_PROTOCOL) options.onVisitor(stream, arrival, known);
    else if (stream.alpnProtocol === MAPPING_PROTOCOL) options.onMapping(stream, known);
    // Not inside another WebSocket.
    else if (stream.alpnProtocol === WEB_PROTOCOL && arrival.via === 'tcp') this.receiveRequest(stream, known);
    else stream.destroy();
  }

  private receiveRequest(stream: TLSSocket, known: () => void): void {
    this.webSockets.receive(stream).then(known, (error: unknown) => this.refuse(stream, error));
  }

  private async openChannel(stream: ByteStream, reader: ByteReader, far: string): Promise<void> {
    // Another server passes it on.
    if ((await reader.peek(PASSED_BYTES))[2] === PASSED_THIRD_BYTE) await reader.read(PASSED_BYTES);
    const opening = await reader.read(OPENING_BYTES);
    const found = this.options.tickets.redeem(opening);
    if (!found) {
      reader.restore();
      if (!this.options.passOn?.(openingTicketId(opening), opening, stream)) {
        throw new TunnelError('unauthorized', 'no such ticket');
      }
      return this.unknown.known(far);
    }
    this.unknown.known(far);
    reader.restore();
    if (stream instanceof MuxStream) stream.widen();
    const { ticket, holder } = found;
    holder.admit(ticket, holder.sealed ? sealed(stream, ticket, holder.longRecords) : stream);
  }

  private refuse(stream: ByteStream, error: unknown): void {
    this.options.logger.debug('a connection of an agent was refused', {
      address: stream.remoteAddress,
      error: error instanceof Error ? error.message : String(error),
    });
    stream.destroy();
  }
}

function sealed(stream: ByteStream, ticket: ChannelTicket, longRecords: boolean): SealedStream {
  const own = new SealedStream(stream, channelKeys(ticket), 'server');
  if (longRecords) own.useLongRecords();
  return own;
}

function addressOf(stream: ByteStream, arrival: Arrival | null): string | undefined {
  return arrival ? arrival.from?.address : stream.remoteAddress;
}

function arrivalOf(stream: TLSSocket): Arrival {
  return { from: farEnd(stream), entrance: endpoint(stream.localAddress, stream.localPort), via: 'tcp' };
}

/** A name for one connection of a port, unique while it is open. */
function nameOf({ remoteAddress, remotePort }: ByteStream): string {
  return `${remoteAddress} ${remotePort}`;
}
