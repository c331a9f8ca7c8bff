import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { LimitRule } from './limit-rule.js';
import { LimitStore, type TokenAnswer, type TokenRequest } from './limit-store.js';

/** Tokens of one key that this process can spend without asking the store. */
export interface Lease {
  readonly rule: LimitRule;
  left: number;
  /** Monotonic milliseconds, like all times here. */
  expiresAt: number;
  batch: number;
  /** When the budget of the key is full again, according to the last answer. */
  fullAt: number;
  deniedUntil: number;
  waiting: number;
  refilling: Promise<void> | undefined;
}

interface Ask {
  readonly lease: Lease;
  readonly cost: number;
  done: () => void;
}

const MAX_LEASES = 50_000;
/** The part of a quota that one replica can hold: the limit can be exceeded by this much. */
const PART = 20;
const MAX_LEASE_MS = 1_000;
const STORE_TIMEOUT_MS = 500;
/** How long a failed store is not asked again. */
const STORE_PAUSE_MS = 1_000;

/**
 * Limits of reads. Tokens are taken from the shared store in batches that follow the demand, and spent here, so that
 * most calls do not ask the store. While the store is away, every replica keeps the limits on its own and reads
 * continue.
 */
@Injectable()
export class LeasedLimiter {
  private readonly leases = new Map<string, Lease>();
  private asks: Ask[] = [];
  private storeAwayUntil = 0;

  constructor(
    private readonly store: LimitStore,
    private readonly logger: JsonLogger,
  ) {}

  lease(rule: LimitRule): Lease {
    const known = this.leases.get(rule.key);
    if (known !== undefined && known.rule.quota === rule.quota) return known;
    const lease: Lease = {
      rule,
      left: 0,
      expiresAt: 0,
      batch: 1,
      fullAt: 0,
      deniedUntil: 0,
      waiting: 0,
      refilling: undefined,
    };
    if (this.leases.size >= MAX_LEASES) this.dropOldest();
    this.leases.delete(rule.key);
    this.leases.set(rule.key, lease);
    return lease;
  }

  /** The first empty lease, or undefined if a token of each was taken. Asks the store only if necessary. */
  take(leases: readonly Lease[], now: number): Lease | undefined | Promise<Lease | undefined> {
    for (let index = 0; index < leases.length; index++) {
      const lease = leases[index] as Lease;
      if (spend(lease, now)) {
        if (lease.batch > 1 && lease.left <= lease.batch >> 1 && lease.deniedUntil <= now) void this.refill(lease);
        continue;
      }
      if (lease.deniedUntil > now) {
        giveBack(leases, index);
        return lease;
      }
      giveBack(leases, index);
      return this.takeWaiting(leases);
    }
    return undefined;
  }

  /** Returns one token of each: those that take() took for a call that was refused for another reason. */
  giveBack(leases: readonly Lease[]): void {
    giveBack(leases, leases.length);
  }

  private async takeWaiting(leases: readonly Lease[]): Promise<Lease | undefined> {
    for (const lease of leases) lease.waiting += 1;
    try {
      for (;;) {
        const now = performance.now();
        const short = leases.filter((lease) => !hasToken(lease, now));
        const denied = short.find(({ deniedUntil }) => deniedUntil > now);
        if (denied !== undefined) return denied;
        if (short.length === 0) {
          for (const lease of leases) lease.left -= 1;
          return undefined;
        }
        await Promise.all(short.map((lease) => this.refill(lease)));
      }
    } finally {
      for (const lease of leases) lease.waiting -= 1;
    }
  }

  private refill(lease: Lease): Promise<void> {
    lease.refilling ??= this.ask(lease).finally(() => {
      lease.refilling = undefined;
    });
    return lease.refilling;
  }

  private ask(lease: Lease): Promise<void> {
    adaptBatch(lease);
    const cost = Math.min(lease.rule.quota, Math.max(lease.batch, lease.waiting));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.asks.push({ lease, cost, done: resolve });
    // Concurrent needs of several keys share one statement.
    if (this.asks.length === 1) queueMicrotask(() => void this.askStore());
    return promise;
  }

  private async askStore(): Promise<void> {
    const asks = this.asks;
    this.asks = [];
    const answers = await this.answersTo(asks);
    const now = performance.now();
    asks.forEach(({ lease, done }, index) => {
      const answer = answers[index];
      if (answer !== undefined) receive(lease, answer, now);
      done();
    });
  }

  private async answersTo(asks: readonly Ask[]): Promise<TokenAnswer[]> {
    const now = performance.now();
    if (now < this.storeAwayUntil) return asks.map((ask) => ownAnswer(ask, now));
    try {
      return await within(this.store.take(asks.map(toRequest), false), STORE_TIMEOUT_MS);
    } catch (error) {
      this.storeAwayUntil = now + STORE_PAUSE_MS;
      this.logger.warn('limits are kept by this process alone: their store is away', { error }, 'LeasedLimiter');
      return asks.map((ask) => ownAnswer(ask, now));
    }
  }

  private dropOldest(): void {
    let left = MAX_LEASES >> 4;
    for (const key of this.leases.keys()) {
      this.leases.delete(key);
      if (--left === 0) return;
    }
  }
}

function hasToken(lease: Lease, now: number): boolean {
  return lease.left > 0 && lease.expiresAt > now;
}

function spend(lease: Lease, now: number): boolean {
  if (!hasToken(lease, now)) return false;
  lease.left -= 1;
  return true;
}

function giveBack(leases: readonly Lease[], count: number): void {
  for (let index = 0; index < count; index++) (leases[index] as Lease).left += 1;
}

/**
 * Grows while batches are used up, shrinks when they expire, so that an idle caller holds no tokens that others need.
 */
function adaptBatch(lease: Lease): void {
  const most = Math.max(1, Math.floor(lease.rule.quota / PART));
  const expired = lease.left > 0 && lease.expiresAt <= performance.now();
  lease.batch = expired ? Math.max(1, lease.batch >> 2) : Math.min(most, lease.batch * 2);
}

function toRequest({ lease: { rule }, cost }: Ask): TokenRequest {
  return { key: rule.key, intervalMs: rule.windowMs / rule.quota, burst: rule.quota, cost };
}

function receive(lease: Lease, { granted, aheadMs }: TokenAnswer, now: number): void {
  const { quota, windowMs } = lease.rule;
  const fresh = lease.expiresAt > now ? lease.left : 0;
  lease.fullAt = now + aheadMs;
  if (granted === 0) {
    lease.deniedUntil = now + Math.max(1, aheadMs - (windowMs / quota) * (quota - 1));
    lease.left = fresh;
    return;
  }
  lease.left = fresh + granted;
  lease.expiresAt = now + Math.min(MAX_LEASE_MS, Math.max(50, windowMs / PART));
}

/** The tokens that this process alone would grant. */
function ownAnswer(ask: Ask, now: number): TokenAnswer {
  const { intervalMs, burst, cost } = toRequest(ask);
  const ahead = Math.max(0, ask.lease.fullAt - now);
  const room = Math.max(0, Math.floor(burst + 1e-6 - ahead / intervalMs));
  const granted = Math.min(room, cost);
  return { granted, room, aheadMs: ahead + granted * intervalMs };
}

/** Rejects after that time. */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
