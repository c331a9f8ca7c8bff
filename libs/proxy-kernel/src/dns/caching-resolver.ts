import { isIP } from 'node:net';
import { setFlowTimeout } from '@gatehouse/net';
import { DialError } from '../interfaces/outbound.js';
import type { Resolver } from '../interfaces/route.js';
import { AnswerCache, type Known } from './answer-cache.js';
import { type NameQuery, codeOf, isNoSuchName, isTimeout } from './name-query.js';

export interface CacheSettings {
  /** The most names kept; 4096. 0 disables the cache. */
  cacheSize: number;
  /** Bounds for the lifetime of addresses: 10 s and 10 min. An answer without a lifetime gets 60 s within them. */
  minTtlMs: number;
  maxTtlMs: number;
  /** How long the absence of a name is kept; 10 s. */
  negativeTtlMs: number;
  /** For one name, however many servers are asked; 5 s. */
  timeoutMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export interface NameAnswer {
  /** IPv4 before IPv6. */
  addresses: readonly string[];
  /** True if a name server reported that the name does not exist. */
  missing: boolean;
  /** The remaining lifetime. */
  ttlMs: number;
}

export interface SystemResolver extends Resolver {
  /** The addresses of a name, possibly none. @throws DialError stage `dns` if no source could answer. */
  lookup(host: string, signal?: AbortSignal): Promise<NameAnswer>;
  /** Answers without a name server: configured ones, address literals, this machine (RFC 6761 6.3). */
  fixed(host: string): readonly string[] | null;
  /** Forgets every answer. */
  clear(): void;
  readonly cachedNames: number;
}

/** The lifetime of an answer that came without one. */
const UNKNOWN_TTL_MS = 60_000;
/**
 * The most questions under way, including those that timed out and still occupy a thread. More would queue up behind
 * the few threads that ask the system.
 */
const MAX_RUNNING = 1024;
/** The reported lifetime of fixed answers, which hold as long as the configuration does. */
const FIXED_TTL_MS = 10_000;
const LOOPBACK = ['127.0.0.1', '::1'];

export const DEFAULT_CACHE: CacheSettings = {
  cacheSize: 4096,
  minTtlMs: 10_000,
  maxTtlMs: 600_000,
  negativeTtlMs: 10_000,
  timeoutMs: 5000,
  now: Date.now,
};

/**
 * Answers from fixed entries and the cache first, then asks one question per name at a time and caches the answer for
 * its lifetime.
 */
export class CachingResolver implements SystemResolver {
  readonly #settings: CacheSettings;
  readonly #query: NameQuery;
  readonly #fixed: (name: string) => readonly string[] | null;
  readonly #cache: AnswerCache;
  readonly #pending = new Map<string, Promise<Known>>();
  #running = 0;

  constructor(settings: CacheSettings, query: NameQuery, fixed: (name: string) => readonly string[] | null) {
    this.#settings = settings;
    this.#fixed = fixed;
    this.#query = query;
    this.#cache = new AnswerCache(settings.cacheSize, settings.now);
  }

  async resolve(host: string, signal?: AbortSignal): Promise<string[]> {
    const { addresses } = await this.lookup(host, signal);
    if (addresses.length === 0) throw new DialError('dns', 'dns_error', `${plainName(host)}: no such name`);
    return [...addresses];
  }

  async lookup(host: string, signal?: AbortSignal): Promise<NameAnswer> {
    if (signal?.aborted) throw abandoned(host, signal);
    const name = plainName(host);
    const fixed = this.fixed(name);
    if (fixed) return { addresses: fixed, missing: false, ttlMs: FIXED_TTL_MS };
    if (!isHostName(name)) {
      throw new DialError('dns', 'dns_error', `${JSON.stringify(name.slice(0, 80))} is not a host name`);
    }
    const known = this.#cache.get(name) ?? (await untilAborted(this.#ask(name), name, signal));
    const { addresses, missing, expiresAt } = known;
    return { addresses, missing, ttlMs: Math.max(0, expiresAt - this.#settings.now()) };
  }

  fixed(host: string): readonly string[] | null {
    const name = plainName(host);
    if (isIP(name) !== 0) return [name];
    const set = isHostName(name) ? this.#fixed(name) : null;
    return set ?? (name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : null);
  }

  clear(): void {
    this.#cache.clear();
  }

  get cachedNames(): number {
    return this.#cache.size;
  }

  /** One question per name. It continues when a caller leaves, for the others and for the cache. */
  #ask(name: string): Promise<Known> {
    const running = this.#pending.get(name);
    if (running) return running;
    if (this.#running >= MAX_RUNNING) {
      return Promise.reject(new DialError('dns', 'dns_error', `${name}: too many names are being resolved`));
    }
    const question = this.#askOnce(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, question);
    return question;
  }

  async #askOnce(name: string): Promise<Known> {
    const known = await this.#asked(name);
    this.#cache.set(name, known);
    return known;
  }

  async #asked(name: string): Promise<Known> {
    const { minTtlMs, maxTtlMs, negativeTtlMs, timeoutMs, now } = this.#settings;
    try {
      this.#running++;
      const asking = this.#query(name).finally(() => this.#running--);
      const { addresses, ttlMs, missing = false } = await within(timeoutMs, asking);
      if (addresses.length === 0) return { addresses, missing, expiresAt: now() + negativeTtlMs };
      const ordered = [...addresses].sort((a, b) => isIP(a) - isIP(b));
      // RFC 1035 3.2.1: an answer with 0 is for the present question only.
      const lifetime = ttlMs === 0 ? 0 : Math.min(maxTtlMs, Math.max(minTtlMs, ttlMs ?? UNKNOWN_TTL_MS));
      return { addresses: ordered, missing: false, expiresAt: now() + lifetime };
    } catch (error) {
      if (!isNoSuchName(error)) throw failure(name, error);
      // The system does not say whether the name has records of other types.
      return { addresses: [], missing: false, expiresAt: now() + negativeTtlMs };
    }
  }
}

/** The key of a name: lower case, without a trailing dot. */
function plainName(host: string): string {
  return (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
}

/** Whether a text can be a host name. */
export function isHostName(name: string): boolean {
  return name !== '' && name.length <= 253 && !/[\s\0/:@%]/.test(name);
}

class LookupTimeout extends Error {}

/** The system's lookup cannot be cancelled: it runs on, and its result is dropped. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setFlowTimeout(null, () => reject(new LookupTimeout()), timeoutMs);
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
