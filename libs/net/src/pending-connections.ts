import { resetStream, type ByteStream } from './byte-stream.js';
import { networkOf } from './client-network.js';

export interface PendingConnectionLimits {
  /** So many at once. */
  max: number;
  /** So many of one source; an IPv6 /64 counts as one. Absent: no bound but `max`. */
  maxPerSource?: number;
  /** So long each, in milliseconds. */
  timeoutMs: number;
}

interface PendingConnection {
  stream: ByteStream;
  timer: NodeJS.Timeout;
  /** Null: of no one source. */
  source: string | null;
}

/**
 * Connections that have not said yet what they are for. Without room for another, the one that has been silent longest is
 * reset: others say it at once, and nobody can keep them out by saying nothing. A source that has its share of the room gives
 * up its own oldest for its next.
 */
export class PendingConnections<K> {
  private readonly limits: PendingConnectionLimits;
  /** The longest first. */
  private readonly entries = new Map<K, PendingConnection>();
  /** By source, the longest first. */
  private readonly bySource = new Map<string, Set<K>>();
  /** How many were reset to make room, since the start. */
  evicted = 0;

  constructor(limits: PendingConnectionLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.entries.size;
  }

  /**
   * One that came, or one that is there already and begins again, such as in TLS. `late`: its time is over. `address`: whose
   * share of the room it takes; null for one that stands for many.
   */
  add(
    key: K,
    stream: ByteStream,
    late: () => void = () => void stream.destroy(),
    address: string | null = stream.remoteAddress ?? null,
  ): void {
    this.delete(key);
    const source = address === null || this.limits.maxPerSource === undefined ? null : networkOf(address);
    this.makeRoom(source);
    const timer = setTimeout(() => {
      this.delete(key);
      late();
    }, this.limits.timeoutMs);
    this.entries.set(key, { stream, timer, source });
    if (source !== null) this.keysOf(source).add(key);
  }

  /** It said what it is for, or is gone. */
  delete(key: K): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    clearTimeout(entry.timer);
    this.entries.delete(key);
    if (entry.source === null) return;
    const keys = this.keysOf(entry.source);
    keys.delete(key);
    if (keys.size === 0) this.bySource.delete(entry.source);
  }

  /** Ends all of them. */
  destroy(): void {
    for (const [key, { stream }] of this.entries) {
      this.delete(key);
      stream.destroy();
    }
  }

  private makeRoom(source: string | null): void {
    const { max, maxPerSource = max } = this.limits;
    const own = source === null ? undefined : this.bySource.get(source);
    if (own && own.size >= maxPerSource) this.evictFirst(own);
    if (this.entries.size >= max) this.evictFirst(this.entries.keys());
  }

  private evictFirst(keys: Iterable<K>): void {
    for (const key of keys) {
      const entry = this.entries.get(key);
      this.delete(key);
      this.evicted += 1;
      if (entry) resetStream(entry.stream);
      return;
    }
  }

  private keysOf(source: string): Set<K> {
    const known = this.bySource.get(source);
    if (known) return known;
    const keys = new Set<K>();
    this.bySource.set(source, keys);
    return keys;
  }
}
