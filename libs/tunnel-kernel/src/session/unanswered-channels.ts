import { resetStream, type ByteStream } from '@gatehouse/net';

/** What an agent says may arrive so late. */
const ON_THE_WAY_MS = 1_000;
/** Number of channels from which on those are looked for that no longer count. */
const MANY = 64;

/** Channels that were started about when their agent was last heard or later, and on which nothing came back. */
export class UnansweredChannels {
  private readonly startedAt = new Map<ByteStream, number>();
  private heardAt = Number.NEGATIVE_INFINITY;
  private many = MANY;

  started(stream: ByteStream): void {
    this.startedAt.set(stream, performance.now());
    if (this.startedAt.size < this.many) return;
    // In the order in which they were started.
    for (const [early, at] of this.startedAt) {
      if (this.counts(at)) break;
      this.startedAt.delete(early);
    }
    this.many = Math.max(MANY, 2 * this.startedAt.size);
  }

  /** Something came back on this one. */
  answered(stream: ByteStream): void {
    this.startedAt.delete(stream);
    this.heard();
  }

  /** The agent has said something. */
  heard(): void {
    this.heardAt = performance.now();
  }

  /** Resets all of them. */
  reset(): void {
    for (const [stream, at] of this.startedAt) if (this.counts(at)) resetStream(stream);
    this.startedAt.clear();
  }

  /** What was heard may have been on its way when the last of them were started. */
  private counts(startedAt: number): boolean {
    return startedAt > this.heardAt - ON_THE_WAY_MS;
  }
}
