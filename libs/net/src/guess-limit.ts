import { hash } from 'node:crypto';
import { networkOf } from './client-network.js';

export interface GuessLimits {
  /** Wrong guesses in a window from one address at one account. */
  readonly pair: number;
  /** Wrong guesses from one address at all accounts of a scope. */
  readonly address: number;
  /** Wrong guesses at one account from all addresses. */
  readonly account: number;
  readonly windowMs: number;
  /** How long an address counts as known for an account after a login. */
  readonly knownMs: number;
}

export const DEFAULT_GUESS_LIMITS: GuessLimits = {
  pair: 5,
  address: 20,
  account: 100,
  windowMs: 60_000,
  knownMs: 86_400_000,
};

/** An attempt to log in. `scope` keeps accounts of the same name apart, such as those of two policies. */
export interface Guess {
  readonly scope: string | number;
  readonly address: string;
  readonly account: string;
}

interface Window {
  count: number;
  since: number;
}

const MAX_WINDOWS = 60_000;
const MAX_KNOWN = 20_000;

/**
 * Limits guesses at user names and passwords, in memory. It must not punish people who share an address with an attacker:
 * five wrong passwords close one account to one address, and the other accounts stay open there. The wider limits (an
 * address that tries many accounts, an account that is tried from many addresses) do not apply to an address from which the
 * account's owner has logged in before. An IPv6 /64 counts as one address.
 *
 * Check the limit before looking anything up, including cached results, and refuse in the same way whether the password is
 * right or wrong. Otherwise the refusal reveals which it was.
 */
export class GuessLimit {
  private readonly now: () => number;
  private readonly limits: GuessLimits;
  private readonly windows = new Map<string, Window>();
  /** When each pair of address and account stops being known. */
  private readonly known = new Map<string, number>();

  /** `now`: the time in milliseconds. */
  constructor(now: () => number, limits: GuessLimits = DEFAULT_GUESS_LIMITS) {
    this.now = now;
    this.limits = limits;
  }

  /** Seconds until an attempt is allowed; 0: now. Counts nothing. */
  secondsToWait(guess: Guess): number {
    let longest = 0;
    for (const { key, max } of this.limitsOf(guess)) {
      const window = this.recent(key);
      if (window && window.count >= max) longest = Math.max(longest, this.secondsLeft(window));
    }
    return longest;
  }

  /** Counts an attempt before its password is checked, so that concurrent attempts count as well. False: refuse it. */
  acquire(guess: Guess): boolean {
    if (this.secondsToWait(guess) > 0) return false;
    for (const key of keysOf(guess)) this.count(key);
    return true;
  }

  /** Takes back an attempt whose password could not be checked. */
  release(guess: Guess): void {
    for (const key of keysOf(guess)) {
      const window = this.recent(key);
      if (window && window.count > 0) window.count -= 1;
    }
  }

  /** The password was right: the attempt does not count, and its address becomes known for the account. */
  succeed(guess: Guess): void {
    this.release(guess);
    const [pair] = keysOf(guess);
    remember(this.known, pair, this.now() + this.limits.knownMs, MAX_KNOWN);
  }

  private limitsOf(guess: Guess): { key: string; max: number }[] {
    const [pair, address, account] = keysOf(guess);
    const own = { key: pair, max: this.limits.pair };
    if ((this.known.get(pair) ?? 0) > this.now()) return [own];
    return [own, { key: address, max: this.limits.address }, { key: account, max: this.limits.account }];
  }

  private recent(key: string): Window | undefined {
    const window = this.windows.get(key);
    return window && this.now() - window.since < this.limits.windowMs ? window : undefined;
  }

  private secondsLeft({ since }: Window): number {
    return Math.max(1, Math.ceil((since + this.limits.windowMs - this.now()) / 1000));
  }

  private count(key: string): void {
    const { count = 0, since = this.now() } = this.recent(key) ?? {};
    remember(this.windows, key, { count: count + 1, since }, MAX_WINDOWS);
  }
}

/** Keys of the pair, the address and the account. Account names are hashed: they may be long, and people type passwords there. */
function keysOf({ scope, address, account }: Guess): [pair: string, address: string, account: string] {
  const from = networkOf(address);
  const whose = hash('sha256', account, 'base64url').slice(0, 22);
  return [`${scope} ${from} ${whose}`, `${scope} ${from} *`, `${scope} * ${whose}`];
}

/** Keeps the newest entries. Drops an eighth at a time: finding the oldest entry of a Map is slow after many single deletions. */
function remember<Value>(entries: Map<string, Value>, key: string, value: Value, max: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= max) return;
  let surplus = Math.ceil(max / 8);
  for (const oldest of entries.keys()) {
    if (surplus-- <= 0) return;
    entries.delete(oldest);
  }
}
