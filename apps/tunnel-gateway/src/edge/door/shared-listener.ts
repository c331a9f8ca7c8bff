import { createServer, type Server, type Socket } from 'node:net';
import { PendingConnections, type ListeningSockets } from '@gatehouse/net';
import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import type { ListenAddress, PortName } from '../../common/edge-ipc.js';
import type { Choice } from './first-bytes.js';

const MAX_PEEKED = 17 * 1024;
/** Each is a look at all that came so far; what anybody sends comes in a few. */
const MAX_PIECES = 256;
const PEEK_MS = 10_000;
const MAX_UNIDENTIFIED = 4096;
/** One address has one place in so many. */
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
  /** The socket is not read from any more; `head` is what was read of it. */
  hand(worker: number, socket: Socket, head: Buffer): void;
  /** For what says nothing that a worker could be chosen by, and may still deserve an answer. */
  any(): number;
  /** Whether one address may have a quarter of the places, and no more. Absent: any has as many as there are. */
  hasShare?: (address: string) => boolean;
  /** How long a connection may take to say what it is for. Absent: 10 s. */
  peekMs?: number;
  /** Connections that have not said yet what they are for. Absent: 4096. */
  maxUnidentified?: number;
}

/** A port that is shared by all workers: reads what a connection begins with, and gives it to the one it is for. */
export class SharedListener {
  private readonly options: SharedListenerOptions;
  private readonly server: Server;
  private readonly pending: PendingConnections<Socket>;
  /** Connections at a time that have not said yet what they are for. */
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
        // With one byte in its buffer a socket that is paused is not read from any more: see `stop`.
        highWaterMark: 1,
      },
      (socket) => this.accept(socket),
    );
  }

  /** Answers the port. @throws Error of `listen`. */
  listen(address: ListenAddress): Promise<number> {
    const { port, logger, sockets } = this.options;
    return sockets.listenTcp(this.server, address, ({ message }) =>
      logger.error('a port takes no connections', { port, error: message }),
    );
  }

  /** Connections that have not said yet what they are for. */
  get unidentified(): number {
    return this.pending.size;
  }

  /** Of those, how many were reset to make room for others, since the start. */
  get evicted(): number {
    return this.pending.evicted;
  }

  /** Accepts no more. */
  closePort(): void {
    this.server.close();
  }

  /** Accepts no more; who has not said anything yet is not waited for. */
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
    // A request whose head is that long, or slow, may be one all the same.
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
 * No byte is read from here on: what another process is to read must stay in the system. Within the event that a chunk
 * came by, a paused socket whose buffer is full stops reading; what is put back fills it.
 */
function stop(socket: Socket, read: Buffer): void {
  socket.pause();
  socket.unshift(read);
}
