import { isIP } from 'node:net';
import { KernelConfigError } from '../interfaces/kernel.js';
import { DialError } from '../interfaces/outbound.js';
import type { Resolver } from '../interfaces/route.js';
import { AnswerCache } from './answer-cache.js';
import {
  type Answer,
  type NameQuery,
  codeOf,
  isNoSuchName,
  isTimeout,
  querySystem,
  queryServers,
} from './name-query.js';

export interface SystemResolverOptions {
  /** Names kept; 4096. 0 keeps none. */
  cacheSize?: number;
  /** Bounds on how long addresses are kept: 10 s and 10 min. The system tells no lifetime; its answers are kept for 60 s within them. */
  minTtlMs?: number;
  maxTtlMs?: number;
  /** How long a name that does not exist is remembered so; 10 s. */
  negativeTtlMs?: number;
  /** For one question; 5 s. */
  timeoutMs?: number;
  /** Names answered from here, lower case, before anything is asked. */
  hosts?: ReadonlyMap<string, readonly string[]>;
  /** Name servers as `address` or `address:port`. Absent or empty: the system is asked. */
  servers?: readonly string[];
  /** Milliseconds since the epoch. */
  now?: () => number;
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
type Settings = Required<SystemResolverOptions>;

const DEFAULTS: Settings = {
  cacheSize: 4096,
  minTtlMs: 10_000,
  maxTtlMs: 600_000,
  negativeTtlMs: 10_000,
  timeoutMs: 5000,
  hosts: new Map(),
  servers: [],
  now: Date.now,
};

/**
 * A resolver over the system or over given name servers: cached, one question per name at a time, IPv4 before IPv6.
 * @throws KernelConfigError for a bad entry of `hosts` or `servers`.
 */
export function createSystemResolver(options: SystemResolverOptions = {}): SystemResolver {
  const settings: Settings = { ...DEFAULTS, ...options };
  for (const [name, addresses] of settings.hosts) {
    const bad = addresses.find((address) => isIP(address) === 0);
    if (bad !== undefined)
      throw new KernelConfigError(`hosts[${JSON.stringify(name)}]`, `${JSON.stringify(bad)} is not an address`);
  }
  return new CachingResolver(settings, settings.servers.length > 0 ? serverQuery(settings) : querySystem);
}

function serverQuery({ servers, timeoutMs }: Settings): NameQuery {
  try {
    return queryServers(servers, timeoutMs);
  } catch (error) {
    throw new KernelConfigError('servers', error instanceof Error ? error.message : 'not a list of name servers');
  }
}

class CachingResolver implements SystemResolver {
  readonly #settings: Settings;
  readonly #query: NameQuery;
  readonly #cache: AnswerCache;
  readonly #pending = new Map<string, Promise<readonly string[]>>();
  #running = 0;

  constructor(settings: Settings, query: NameQuery) {
    this.#settings = settings;
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
    const fixed = this.#settings.hosts.get(name);
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
