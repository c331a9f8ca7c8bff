import { resetStream, type ByteStream } from './byte-stream.js';

export interface NewcomerLimits {
  /** So many at once. */
  most: number;
  /** So long each, in milliseconds. */
  silentMs: number;
}

interface Newcomer {
  stream: ByteStream;
  timer: NodeJS.Timeout;
}

/**
 * Connections that have not said yet what they are for. Without room for another, who has been silent longest is reset:
 * others say it at once, and nobody can keep them out by saying nothing.
 */
export class Newcomers<K> {
  private readonly limits: NewcomerLimits;
  /** The longest first. */
  private readonly entries = new Map<K, Newcomer>();

  constructor(limits: NewcomerLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.entries.size;
  }

  /** One that came, or one that is there already and begins anew, such as in TLS. `late`: its time is over. */
  add(key: K, stream: ByteStream, late: () => void = () => void stream.destroy()): void {
    this.delete(key);
    this.makeRoom();
    const timer = setTimeout(() => {
      this.entries.delete(key);
      late();
    }, this.limits.silentMs);
    this.entries.set(key, { stream, timer });
  }

  /** It said what it is for, or is gone. */
  delete(key: K): void {
    clearTimeout(this.entries.get(key)?.timer);
    this.entries.delete(key);
  }

  /** Ends all of them. */
  destroy(): void {
    for (const [key, { stream }] of this.entries) {
      this.delete(key);
      stream.destroy();
    }
  }

  private makeRoom(): void {
    const [oldest] = this.entries;
    if (!oldest || this.entries.size < this.limits.most) return;
    const [key, { stream }] = oldest;
    this.delete(key);
    resetStream(stream);
  }
}
