import { createServer, type Server, type Socket } from 'node:net';
import { PendingConnections, type ListeningSockets } from '@gatehouse/net';
import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import type { ListenAddress, PortName } from '../../common/edge-ipc.js';
import type { Choice } from './first-bytes.js';

const MAX_PEEKED = 17 * 1024;
/** Every piece means checking everything received so far; honest clients send few. */
const MAX_PIECES = 256;
const PEEK_MS = 10_000;
const MAX_UNIDENTIFIED = 4096;
/** One address may use this fraction of the slots: one in four. */
const SOURCES = 4;
const KEEP_ALIVE_MS = 15_000;
const LINGER_MS = 1_000;
const TIMEOUT_ANSWER =
  'HTTP/1.1 408 Request Timeout\r\nX-Gw-Error: timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

export interface SharedListenerOptions {
  port: PortName;
  sockets: ListeningSockets;
  logger: TunnelLogger;
  choose(bytes: Buffer): Choice;
  /** The socket is no longer read from; `head` holds the bytes that were read. */
  hand(worker: number, socket: Socket, head: Buffer): void;
  /** For connections that name no worker but may still deserve an answer. */
  any(): number;
  /** Whether an address is limited to a quarter of the slots. Absent: no address is. */
  hasShare?: (address: string) => boolean;
  /** How long a connection may take until a worker can be chosen. Absent: 10 s. */
  peekMs?: number;
  /** Upper bound for connections without a worker. Absent: 4096. */
  maxUnidentified?: number;
}

/** A port that all workers share: reads the beginning of each connection, and passes it to its worker. */
export class SharedListener {
  private readonly options: SharedListenerOptions;
  private readonly server: Server;
  private readonly pending: PendingConnections<Socket>;
  /** Upper bound for connections without a worker. */
  readonly most: number;

  constructor(options: SharedListenerOptions) {
    this.options = options;
    this.most = options.maxUnidentified ?? MAX_UNIDENTIFIED;
    this.pending = new PendingConnections({
      max: this.most,
      maxPerSource: Math.ceil(this.most / SOURCES),
      timeoutMs: options.peekMs ?? PEEK_MS,
    });
    this.server = createServer(
      {
        allowHalfOpen: true,
        pauseOnConnect: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
        // With one byte in its buffer, a paused socket is no longer read from: see `stop`.
        highWaterMark: 1,
      },
      (socket) => this.accept(socket),
    );
  }

  /** Returns the port. @throws Error of `listen`. */
  listen(address: ListenAddress): Promise<number> {
    const { port, logger, sockets } = this.options;
    return sockets.listenTcp(this.server, address, ({ message }) =>
      logger.error('a port takes no connections', { port, error: message }),
    );
  }

  /** Connections without a worker. */
  get unidentified(): number {
    return this.pending.size;
  }

  /** Connections that were reset to make room for others, since the start. */
  get evicted(): number {
    return this.pending.evicted;
  }

  /** Stops accepting. */
  closePort(): void {
    this.server.close();
  }

  /** Stops accepting, and closes silent connections. */
  close(): void {
    this.server.close();
    this.pending.destroy();
  }

  private accept(socket: Socket): void {
    socket.on('error', () => undefined);
    let read: Buffer = Buffer.alloc(0);
    let pieces = 0;
    const settle = (): void => {
      this.pending.delete(socket);
      socket.off('data', take).off('end', gone).off('close', settle);
    };
    const gone = (): void => void socket.destroy();
    const take = (chunk: Buffer): void => {
      read = read.length === 0 ? chunk : Buffer.concat([read, chunk]);
      pieces += 1;
      const choice = this.choose(read, pieces);
      if (choice === 'more') return;
      settle();
      if (choice === 'refuse') return gone();
      stop(socket, read);
      this.options.hand(choice, socket, read);
    };
    const late = (): void => {
      settle();
      this.late(socket);
    };
    this.pending.add(socket, socket, late, this.sourceOf(socket));
    socket.on('data', take).on('end', gone).on('close', settle);
    socket.resume();
  }

  private sourceOf({ remoteAddress }: Socket): string | null {
    return remoteAddress !== undefined && this.options.hasShare?.(remoteAddress) ? remoteAddress : null;
  }

  private choose(read: Buffer, pieces: number): Choice {
    const choice = this.options.choose(read);
    if (choice !== 'more' || (read.length < MAX_PEEKED && pieces < MAX_PIECES)) return choice;
    // A request with a long or slow head may still be valid.
    return this.options.port === 'http' ? this.options.any() : 'refuse';
  }

  private late(socket: Socket): void {
    if (this.options.port !== 'http') return void socket.destroy();
    socket.end(TIMEOUT_ANSWER);
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  }
}

/**
 * Stops reading: what another process is to read must stay in the system. Within the event of a chunk, a paused socket
 * with a full buffer stops reading; the bytes that are put back fill it.
 */
function stop(socket: Socket, read: Buffer): void {
  socket.pause();
  socket.unshift(read);
}
