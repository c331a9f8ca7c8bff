import type { Socket } from 'node:net';

/** What users' own sockets moved: counters and logs have to say the same. */
export class Meter {
  /** Bytes that visitors of the TCP tunnel received. */
  tunnelBytes = 0;
  /** Connections through the proxy that carried bytes there and back, or a whole download. */
  proxied = 0;
  private open = 0;

  /** Whether connections of the tunnel are open, whose bytes are not in the sum yet. */
  get isBusy(): boolean {
    return this.open > 0;
  }

  /** Counts what a visitor of the TCP tunnel receives. */
  ofTunnel(socket: Socket): Socket {
    this.open += 1;
    socket.once('close', () => {
      this.open -= 1;
      this.tunnelBytes += socket.bytesRead;
    });
    return socket;
  }
}
