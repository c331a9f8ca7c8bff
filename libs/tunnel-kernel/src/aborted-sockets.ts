import type { Socket } from 'node:net';
import { setFlowInterval } from '@gatehouse/net';

const EVERY_MS = 1000;
const NOTHING = Buffer.alloc(0);

/**
 * Detects that the other side aborted while nobody reads: a paused socket is not notified of a reset. Writing zero
 * bytes sends nothing, and fails once the system knows of a reset. Data that was received but not read is lost with it.
 * A half-close is not detected, and must not be: a visitor that sent its request and ended its direction waits for the
 * answer, and cannot be told from one that has left until something is sent to it.
 */
export class AbortedSockets {
  private readonly sockets = new Set<Socket>();
  private timer: NodeJS.Timeout | null = null;

  /** Watches until `close`. The socket must not be under TLS, and must have a listener for errors. */
  watch(socket: Socket): void {
    this.add(socket);
    socket.once('close', () => this.delete(socket));
  }

  /** As `watch`, for a caller that calls `delete` when the socket closes. */
  add(socket: Socket): void {
    this.sockets.add(socket);
    this.timer ??= setFlowInterval(null, () => this.look(), EVERY_MS).unref();
  }

  private look(): void {
    for (const socket of this.sockets) {
      // While bytes are being sent, the system reports an abort by itself.
      if (socket.isPaused() && socket.writable && socket.writableLength === 0) socket.write(NOTHING);
    }
  }

  delete(socket: Socket): void {
    this.sockets.delete(socket);
    if (this.sockets.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
