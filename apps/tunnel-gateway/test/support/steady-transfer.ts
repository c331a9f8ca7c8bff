import { connect, type Socket } from 'node:net';

const PIECE = Buffer.alloc(2_000, 'x');
const PACE_MS = 20;

/** A visitor of an echo that sends a piece, waits until it is back, and so on; it remembers how much it had sent when. */
export class SteadyTransfer {
  readonly socket: Socket;
  sent = 0;
  received = 0;
  ended = false;
  private readonly history: { at: number; sent: number }[] = [];

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.on('error', () => undefined).on('close', () => (this.ended = true));
    this.socket.on('connect', () => this.send());
    this.socket.on('data', (part) => {
      this.received += part.length;
      // Not as fast as it goes: what is looked at is who survives.
      if (this.received === this.sent) setTimeout(() => this.send(), PACE_MS);
    });
  }

  /** Bytes that were sent by then, in milliseconds since the epoch. */
  sentBy(time: number): number {
    return this.history.findLast(({ at }) => at <= time)?.sent ?? 0;
  }

  stop(): void {
    this.socket.destroy();
  }

  private send(): void {
    if (this.ended || this.socket.destroyed) return;
    this.sent += PIECE.length;
    this.history.push({ at: Date.now(), sent: this.sent });
    this.socket.write(PIECE);
  }
}
