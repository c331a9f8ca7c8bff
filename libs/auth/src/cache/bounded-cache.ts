interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

/**
 * A map with a size and a lifetime; the oldest entry is evicted first. `generation` changes with every removal, so that
 * a value that was read before a removal is not stored after it.
 */
export class BoundedCache<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private readonly maxEntries: number;
  private removals = 0;

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries;
  }

  get generation(): number {
    return this.removals;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > Date.now()) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  /** Keeps a value until a time (ms since the epoch), unless something was removed since `generation` was read. */
  set(key: string, value: V, expiresAt: number, generation = this.removals): void {
    if (generation !== this.removals) return;
    this.entries.delete(key);
    this.entries.set(key, { value, expiresAt });
    if (this.entries.size <= this.maxEntries) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.removals += 1;
    this.entries.delete(key);
  }

  clear(): void {
    this.removals += 1;
    this.entries.clear();
  }
}
