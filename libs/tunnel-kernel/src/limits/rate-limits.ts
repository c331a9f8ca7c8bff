import { LimiterChain, RateLimiter } from '@gatehouse/net';
import type { TunnelServerConfig } from '../config.js';
import type { ResourceRef } from '../resource.js';

/**
 * Clients and tunnels share one space of keys, in which those of clients are their ids: servers that know no limits of
 * tunnels take these for clients that they do not have.
 */
const TUNNEL_KEYS = 2 ** 52;

export type VisitorLimiter = RateLimiter | LimiterChain;

/** What was held back by its own limit. */
export interface HeldBack {
  kind: 'client' | 'tunnel';
  id: number;
}

export function limitKey(kind: HeldBack['kind'], id: number): number {
  return kind === 'client' ? id : TUNNEL_KEYS + id;
}

/** The rate limiters of clients and tunnels with a limit. */
export class RateLimits {
  private readonly limiters = new Map<number, RateLimiter>();
  /** The configured limits: a limiter may have less, where other servers use the rest. */
  private readonly limits = new Map<number, number>();
  /** By the key of the tunnel, for tunnels that have a limit beside that of their client. */
  private readonly chains = new Map<number, LimiterChain>();

  /** Null: neither the client nor the tunnel has a limit. */
  of(clientId: number, { kind, id }: ResourceRef): VisitorLimiter | null {
    const client = this.limiters.get(clientId) ?? null;
    const key = limitKey('tunnel', id);
    const tunnel = kind === 'tunnel' ? this.limiters.get(key) : undefined;
    if (!tunnel || !client) return tunnel ?? client;
    const known = this.chains.get(key);
    if (known?.first === tunnel && known.second === client) return known;
    const chain = new LimiterChain(tunnel, client);
    this.chains.set(key, chain);
    return chain;
  }

  /** Those that were delayed since the last call. */
  takeHeldBack(): HeldBack[] {
    return [...this.limiters]
      .filter(([, limiter]) => limiter.takeHeldBack())
      .map(([key]) => (key < TUNNEL_KEYS ? { kind: 'client', id: key } : { kind: 'tunnel', id: key - TUNNEL_KEYS }));
  }

  /** Returns the keys of those that got a limit or lost theirs. */
  apply({ clients, tunnels }: Pick<TunnelServerConfig, 'clients' | 'tunnels'>): Set<number> {
    const changed = new Set<number>();
    const wanted = new Map([
      ...clients.map(({ id, rateLimit }) => [limitKey('client', id), rateLimit] as const),
      ...tunnels.map(({ id, rateLimit = 0 }) => [limitKey('tunnel', id), rateLimit] as const),
    ]);
    for (const [key, limiter] of this.limiters) {
      if ((wanted.get(key) ?? 0) > 0) continue;
      limiter.lift();
      for (const all of [this.limiters, this.limits, this.chains]) all.delete(key);
      changed.add(key);
    }
    for (const [key, rateLimit] of wanted) {
      if (rateLimit === 0) continue;
      const limiter = this.limiters.get(key);
      if (!limiter) {
        this.limiters.set(key, new RateLimiter(rateLimit));
        changed.add(key);
      } else if (this.limits.get(key) !== rateLimit) limiter.change(rateLimit);
      this.limits.set(key, rateLimit);
    }
    return changed;
  }

  /** What was used since the last call, for `SharedLimits`. */
  *demands(): Iterable<{ clientId: number; limit: number; bytes: number; delayed: boolean }> {
    for (const [key, limiter] of this.limiters) {
      yield { clientId: key, limit: this.limits.get(key) ?? 0, ...limiter.takeDemand() };
    }
  }

  /** What this server may use of a limit; never more than the limit. */
  setShare(key: number, bytesPerSecond: number): void {
    const limiter = this.limiters.get(key);
    const rate = Math.min(this.limits.get(key) ?? 0, bytesPerSecond);
    if (limiter && limiter.rate !== rate) limiter.change(rate);
  }
}
