import { resetStream, type ByteStream } from './byte-stream.js';
import { networkOf } from './client-network.js';

export interface PendingConnectionLimits {
  /** Connections at a time. */
  max: number;
  /** Connections at a time from one source; an IPv6 /64 is one source. Absent: only `max` applies. */
  maxPerSource?: number;
  /** How long each may take, in milliseconds. */
  timeoutMs: number;
}

interface PendingConnection {
  stream: ByteStream;
  timer: NodeJS.Timeout;
  /** Null: not counted for any source. */
  source: string | null;
}

/**
 * Connections that have not sent yet what they are for. When there is no room for another, the oldest is reset: honest
 * clients identify themselves quickly, so silent connections cannot keep them out. A source that has used up its share
 * loses its own oldest connection to its next one.
 */
export class PendingConnections<K> {
  private readonly limits: PendingConnectionLimits;
  /** Oldest first. */
  private readonly entries = new Map<K, PendingConnection>();
  /** Keys by source, oldest first. */
  private readonly bySource = new Map<string, Set<K>>();
  /** Connections reset to make room since the start. */
  evicted = 0;

  constructor(limits: PendingConnectionLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.entries.size;
  }

  /**
   * Adds a connection, or restarts the time of one that begins another handshake, such as TLS.
   * @param late called when its time is over
   * @param address whose share it uses; null for one that carries many clients
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

  /** Removes a connection that has identified itself or has closed. */
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

  /** Destroys all of them. */
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
