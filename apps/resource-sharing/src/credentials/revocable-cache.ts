import { BoundedCache } from '@gatehouse/auth';
import type { Revocations } from './revocations.js';

interface Known<V> {
  readonly value: V;
  readonly sequence: number;
}

interface Loading<V> {
  readonly sequence: number;
  readonly value: Promise<V | null>;
}

/** A value, or a promise of it. */
export type Soon<T> = T | Promise<T>;

/** Continues at once if the value is there. */
export function whenThere<T, R>(value: Soon<T>, goOn: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

const KNOWN_MS = 30_000;
const UNKNOWN_MS = 5_000;
/** A separate cache, so that guesses cannot evict the entries of others. */
const MAX_UNKNOWN = 2_000;

/** Rows by key for 30 s, their absence for 5 s; one load at a time per key; nothing older than a revocation. */
export class RevocableCache<V> {
  private readonly known: BoundedCache<Known<V>>;
  private readonly unknown = new BoundedCache<true>(MAX_UNKNOWN);
  private readonly loading = new Map<string, Loading<V>>();
  private readonly revocations: Revocations;
  private readonly subjectsOf: (value: V) => readonly string[];

  constructor(revocations: Revocations, maxEntries: number, subjectsOf: (value: V) => readonly string[]) {
    this.known = new BoundedCache(maxEntries);
    this.revocations = revocations;
    this.subjectsOf = subjectsOf;
  }

  /** Immediate if the value is known: most requests do not wait. */
  get(key: string, load: () => Promise<V | null>): Soon<V | null> {
    const known = this.known.get(key);
    if (known !== undefined && !this.revocations.isStale(known.sequence, this.subjectsOf(known.value))) {
      return known.value;
    }
    if (known === undefined && this.unknown.get(key) !== undefined) return null;
    const { sequence } = this.revocations;
    const joined = this.loading.get(key);
    // A load that began before a revocation may return what was revoked.
    if (joined?.sequence === sequence) return joined.value;
    return this.load(key, { sequence, value: load() });
  }

  private async load(key: string, loading: Loading<V>): Promise<V | null> {
    this.loading.set(key, loading);
    try {
      const value = await loading.value;
      if (value === null) this.unknown.set(key, true, Date.now() + UNKNOWN_MS);
      else this.known.set(key, { value, sequence: loading.sequence }, Date.now() + KNOWN_MS);
      return value;
    } finally {
      if (this.loading.get(key) === loading) this.loading.delete(key);
    }
  }
}
