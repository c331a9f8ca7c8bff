import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { dial } from './sockets.js';

/** A download without an end. When it is cut it begins again, as users do. */
export class LongDownload {
  cuts = 0;
  /** Bytes that arrived since the beginning, heads included. */
  received = 0;
  private lastAt = performance.now();
  private longestGapMs = 0;
  private ended = false;
  private socket: Socket | undefined;
  private readonly running: Promise<void>;

  constructor(
    readonly name: string,
    private readonly port: number,
    private readonly opening: string,
  ) {
    this.running = this.run();
  }

  get isRunning(): boolean {
    return this.received > 10_000 && performance.now() - this.lastAt < 2_000;
  }

  /** The longest silence since this was asked last, in seconds. */
  takeGap(): number {
    const gap = Math.max(this.longestGapMs, performance.now() - this.lastAt) / 1_000;
    this.longestGapMs = 0;
    return gap;
  }

  /** From now on an end is the origin's. Resolves when it came, with what came before it. */
  async finish(): Promise<void> {
    this.ended = true;
    await Promise.race([this.running, delay(10_000)]);
    this.socket?.destroy();
  }

  private async run(): Promise<void> {
    for (;;) {
      await this.once();
      if (this.ended) return;
      this.cuts += 1;
      await delay(200);
    }
  }

  private once(): Promise<void> {
    const socket = dial({ port: this.port });
    this.socket = socket;
    socket.write(this.opening);
    return new Promise((resolve) => {
      socket.on('data', (part: Buffer) => {
        const now = performance.now();
        this.longestGapMs = Math.max(this.longestGapMs, now - this.lastAt);
        this.lastAt = now;
        this.received += part.length;
      });
      socket.on('end', () => socket.destroy());
      socket.on('close', () => resolve());
    });
  }
}
