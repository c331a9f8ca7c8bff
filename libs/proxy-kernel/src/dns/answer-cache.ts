/** What is known of a name: its addresses; without any, that it exists or that it does not. */
export interface Known {
  readonly addresses: readonly string[];
  /** True where a name server said that there is no such name at all, false also where that is not known. */
  readonly missing: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Least recently used first; never more than `size` names. */
export class AnswerCache {
  readonly #entries = new Map<string, Known>();
  readonly #size: number;
  readonly #now: () => number;

  constructor(size: number, now: () => number) {
    this.#size = size;
    this.#now = now;
  }

  get(name: string): Known | null {
    const known = this.#entries.get(name);
    if (!known) return null;
    this.#entries.delete(name);
    if (known.expiresAt <= this.#now()) return null;
    this.#entries.set(name, known);
    return known;
  }

  set(name: string, known: Known): void {
    this.#entries.delete(name);
    if (this.#size <= 0 || known.expiresAt <= this.#now()) return;
    const oldest = this.#entries.size >= this.#size ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(name, known);
  }

  clear(): void {
    this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
}
