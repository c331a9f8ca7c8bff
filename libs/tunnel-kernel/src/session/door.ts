import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { ByteReader, type ByteStream } from '@gatehouse/net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { FramedStream } from '../wire/framed-stream.js';
import { OPENING_BYTES, OPENING_FIRST_BYTE } from '../wire/prelude.js';
import type { ServerIdentity } from '../wire/server-identity.js';
import type { TicketBook } from './ticket-book.js';

/** Names of the uses of a TLS connection (ALPN). */
export const CONTROL_PROTOCOL = 'gwt/1';
export const DATA_PROTOCOL = 'gwd/1';
export const VISITOR_PROTOCOL = 'gwv/1';

const TLS_FIRST_BYTE = 22;
const BACKLOG = 4096;
const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

export interface DoorOptions {
  identity: ServerIdentity;
  logger: TunnelLogger;
  book: TicketBook;
  /** From accept until the connection has said what it is. */
  handshakeMs: number;
  /** Connections that have not said yet what they are. */
  maxUnidentified: number;
  onControl(stream: TLSSocket): void;
  /** A visitor's program; it has its own time limit from here on. */
  onVisitor(stream: TLSSocket): void;
}

interface Unidentified {
  /** Null during a TLS handshake. */
  stream: Socket | null;
  timer: NodeJS.Timeout | undefined;
}

/** The port that agents connect to: control connections and data channels, in TLS or plain, by their first byte. */
export class Door {
  private readonly options: DoorOptions;
  private readonly server: Server;
  private readonly tls: TlsServer;
  /** Connections that have not said yet what they are, by the far end of their TCP socket. */
  private readonly unidentified = new Map<string, Unidentified>();

  constructor(options: DoorOptions) {
    this.options = options;
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
    this.tls = createTlsServer({
      key: options.identity.key,
      cert: options.identity.certificate,
      minVersion: 'TLSv1.3',
      ciphers: CIPHERS,
      honorCipherOrder: true,
      ALPNProtocols: [CONTROL_PROTOCOL, DATA_PROTOCOL, VISITOR_PROTOCOL],
      allowHalfOpen: true,
      handshakeTimeout: options.handshakeMs,
    });
    this.tls.on('secureConnection', (stream) => this.secured(stream));
    this.tls.on('tlsClientError', (error) => options.logger.debug('TLS of an agent failed', { error: error.message }));
  }

  /** @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  listen({ host, port }: HostAndPort): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        this.server.on('error', (error) =>
          this.options.logger.error('agents cannot connect', { error: error.message }),
        );
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  /** Accepts no more; open connections go on. */
  close(): void {
    this.server.close();
  }

  /** Ends the connections that nobody else knows of. */
  destroyUnidentified(): void {
    for (const { stream } of this.unidentified.values()) stream?.destroy();
  }

  private accepted(socket: Socket): void {
    socket.on('error', () => undefined);
    if (this.unidentified.size >= this.options.maxUnidentified) return void socket.resetAndDestroy();
    const far = farEnd(socket);
    this.watch(far, socket);
    socket.on('close', () => this.identified(far));
    void this.route(socket, far);
  }

  private watch(far: string, stream: Socket): void {
    this.identified(far);
    this.unidentified.set(far, { stream, timer: setTimeout(() => stream.destroy(), this.options.handshakeMs) });
  }

  private async route(socket: Socket, far: string): Promise<void> {
    const reader = new ByteReader(socket, OPENING_BYTES);
    try {
      const [first] = await reader.peek(1);
      if (first === TLS_FIRST_BYTE) {
        reader.restore();
        // From here on the TLS server has its own time limit; a TCP socket under TLS is not ours to destroy.
        clearTimeout(this.unidentified.get(far)?.timer);
        this.unidentified.set(far, { stream: null, timer: undefined });
        this.tls.emit('connection', socket);
      } else if (first === OPENING_FIRST_BYTE) await this.openChannel(socket, reader, far);
      else throw new TunnelError('protocol', 'neither TLS nor a data channel');
    } catch (error) {
      this.refuse(socket, error);
    }
  }

  private secured(stream: TLSSocket): void {
    stream.on('error', () => undefined);
    if (stream.alpnProtocol === DATA_PROTOCOL) {
      this.watch(farEnd(stream), stream);
      const reader = new ByteReader(stream, OPENING_BYTES);
      this.openChannel(stream, reader, farEnd(stream)).catch((error: unknown) => this.refuse(stream, error));
    } else if (stream.alpnProtocol === CONTROL_PROTOCOL) {
      // A control connection has its own time limit until it is authenticated.
      this.identified(farEnd(stream));
      this.options.onControl(stream);
    } else if (stream.alpnProtocol === VISITOR_PROTOCOL) {
      this.identified(farEnd(stream));
      this.options.onVisitor(stream);
    } else stream.destroy();
  }

  private async openChannel(stream: Socket, reader: ByteReader, far: string): Promise<void> {
    const opening = await reader.read(OPENING_BYTES);
    const found = this.options.book.redeem(opening);
    if (!found) throw new TunnelError('unauthorized', 'no such ticket');
    this.identified(far);
    reader.restore();
    const channel: ByteStream = 'alpnProtocol' in stream ? new FramedStream(stream) : stream;
    found.holder.admit(found.ticket, channel);
  }

  private refuse(stream: Socket, error: unknown): void {
    this.options.logger.debug('a connection to the door was refused', {
      address: stream.remoteAddress,
      error: error instanceof Error ? error.message : String(error),
    });
    stream.destroy();
  }

  private identified(far: string): void {
    clearTimeout(this.unidentified.get(far)?.timer);
    this.unidentified.delete(far);
  }
}

/** Names one connection of a port as long as it is open, the same on a TLS socket and on the TCP socket under it. */
function farEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
