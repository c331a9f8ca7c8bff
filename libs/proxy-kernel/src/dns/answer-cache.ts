/** What is known of a name: its addresses, or that it has none. */
export type Known = readonly string[];

interface Entry {
  readonly addresses: Known;
  readonly expiresAt: number;
}

/** Least recently used first; never more than `size` names. */
export class AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #size: number;
  readonly #now: () => number;

  constructor(size: number, now: () => number) {
    this.#size = size;
    this.#now = now;
  }

  get(name: string): Known | null {
    const entry = this.#entries.get(name);
    if (!entry) return null;
    this.#entries.delete(name);
    if (entry.expiresAt <= this.#now()) return null;
    this.#entries.set(name, entry);
    return entry.addresses;
  }

  set(name: string, addresses: Known, ttlMs: number): void {
    this.#entries.delete(name);
    if (this.#size <= 0 || ttlMs <= 0) return;
    const oldest = this.#entries.size >= this.#size ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(name, { addresses, expiresAt: this.#now() + ttlMs });
  }

  clear(): void {
    this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
}
