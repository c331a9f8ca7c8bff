/** A cached answer. Without addresses the name may exist or not. */
export interface Known {
  readonly addresses: readonly string[];
  /** True if a name server reported that the name does not exist; also false if that is unknown. */
  readonly missing: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Keeps at most `size` names and drops the least recently used first. */
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
