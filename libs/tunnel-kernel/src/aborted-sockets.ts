import type { Socket } from 'node:net';
import { setFlowInterval } from '@gatehouse/net';

const EVERY_MS = 1000;
const NOTHING = Buffer.alloc(0);

/**
 * Notices that the other side aborted while nobody reads from it: a socket that is paused hears of no reset. Writing no
 * bytes sends nothing, and fails where the system knows of one. What was sent before and not read is lost with it. An end is
 * not noticed, nor should it be: who has asked and ended its direction waits for the answer, and looks like one who is
 * gone until something is sent to it.
 */
export class AbortedSockets {
  private readonly sockets = new Set<Socket>();
  private timer: NodeJS.Timeout | null = null;

  /** From here to its `close`: not under TLS, and with a listener for errors. */
  watch(socket: Socket): void {
    this.sockets.add(socket);
    this.timer ??= setFlowInterval(null, () => this.look(), EVERY_MS).unref();
    socket.once('close', () => this.forget(socket));
  }

  private look(): void {
    for (const socket of this.sockets) {
      // Of one with bytes under way the system says so itself.
      if (socket.isPaused() && socket.writable && socket.writableLength === 0) socket.write(NOTHING);
    }
  }

  private forget(socket: Socket): void {
    this.sockets.delete(socket);
    if (this.sockets.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
