import { isIP } from 'node:net';
import { DialError } from '../interfaces/outbound.js';
import type { Resolver } from '../interfaces/route.js';
import { AnswerCache } from './answer-cache.js';
import { type Answer, type NameQuery, codeOf, isNoSuchName, isTimeout } from './name-query.js';

export interface CacheSettings {
  /** Names kept; 4096. 0 keeps none. */
  cacheSize: number;
  /** Bounds on how long addresses are kept: 10 s and 10 min. An answer without a lifetime is kept for 60 s within them. */
  minTtlMs: number;
  maxTtlMs: number;
  /** How long a name that does not exist is remembered so; 10 s. */
  negativeTtlMs: number;
  /** For one name, however many servers are asked; 5 s. */
  timeoutMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export interface SystemResolver extends Resolver {
  /** Forgets every answer. */
  clear(): void;
  readonly cachedNames: number;
}

/** Lifetime of an answer that came without one. */
const UNKNOWN_TTL_MS = 60_000;
/** Questions under way at once, those that timed out and still hold a thread included. Beyond it a flood of names would queue up behind the few threads that ask the system. */
const MAX_RUNNING = 1024;
const LOOPBACK = ['127.0.0.1', '::1'];

export const DEFAULT_CACHE: CacheSettings = {
  cacheSize: 4096,
  minTtlMs: 10_000,
  maxTtlMs: 600_000,
  negativeTtlMs: 10_000,
  timeoutMs: 5000,
  now: Date.now,
};

/** Answers at hand first, then one question per name at a time; what came is kept for its lifetime. */
export class CachingResolver implements SystemResolver {
  readonly #settings: CacheSettings;
  readonly #query: NameQuery;
  readonly #fixed: (name: string) => readonly string[] | null;
  readonly #cache: AnswerCache;
  readonly #pending = new Map<string, Promise<readonly string[]>>();
  #running = 0;

  constructor(settings: CacheSettings, query: NameQuery, fixed: (name: string) => readonly string[] | null) {
    this.#settings = settings;
    this.#fixed = fixed;
    this.#query = query;
    this.#cache = new AnswerCache(settings.cacheSize, settings.now);
  }

  async resolve(host: string, signal?: AbortSignal): Promise<string[]> {
    if (signal?.aborted) throw abandoned(host, signal);
    const name = (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
    const known = this.#answerAtHand(name) ?? (await untilAborted(this.#ask(name), name, signal));
    if (known.length === 0) throw new DialError('dns', 'dns_error', `${name}: no such name`);
    return [...known];
  }

  clear(): void {
    this.#cache.clear();
  }

  get cachedNames(): number {
    return this.#cache.size;
  }

  #answerAtHand(name: string): readonly string[] | null {
    if (isIP(name) !== 0) return [name];
    if (name === '' || name.length > 253 || /[\s\0/:@%]/.test(name)) {
      throw new DialError('dns', 'dns_error', `${JSON.stringify(name.slice(0, 80))} is not a host name`);
    }
    const fixed = this.#fixed(name);
    if (fixed) return fixed;
    // RFC 6761 6.3: never a question for the network.
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    return this.#cache.get(name);
  }

  /** One question per name; it goes on when a caller leaves, for the others and for the cache. */
  #ask(name: string): Promise<readonly string[]> {
    const running = this.#pending.get(name);
    if (running) return running;
    if (this.#running >= MAX_RUNNING) {
      return Promise.reject(new DialError('dns', 'dns_error', `${name}: too many names are being resolved`));
    }
    const question = this.#askOnce(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, question);
    return question;
  }

  #start(name: string): Promise<Answer> {
    this.#running++;
    return this.#query(name).finally(() => this.#running--);
  }

  async #askOnce(name: string): Promise<readonly string[]> {
    const { minTtlMs, maxTtlMs, negativeTtlMs, timeoutMs } = this.#settings;
    try {
      const { addresses, ttlMs } = await within(timeoutMs, this.#start(name));
      const ordered = [...addresses].sort((a, b) => isIP(a) - isIP(b));
      const lifetime = Math.min(maxTtlMs, Math.max(minTtlMs, ttlMs ?? UNKNOWN_TTL_MS));
      this.#cache.set(name, ordered, ordered.length === 0 ? negativeTtlMs : lifetime);
      return ordered;
    } catch (error) {
      if (!isNoSuchName(error)) throw failure(name, error);
      this.#cache.set(name, [], negativeTtlMs);
      return [];
    }
  }
}

class LookupTimeout extends Error {}

/** The system's lookup cannot be cancelled; it is left to end by itself, and its result dropped. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LookupTimeout()), timeoutMs);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

async function untilAborted<T>(work: Promise<T>, name: string, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abandoned(name, signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function abandoned(name: string, signal: AbortSignal): DialError {
  return new DialError('dns', 'other', `${name}: given up before it was resolved`, { cause: signal.reason });
}

function failure(name: string, cause: unknown): DialError {
  if (cause instanceof LookupTimeout || isTimeout(cause))
    return new DialError('dns', 'timeout', `${name}: no answer in time`, { cause });
  return new DialError('dns', 'dns_error', `${name}: ${codeOf(cause) || 'could not be resolved'}`, { cause });
}
