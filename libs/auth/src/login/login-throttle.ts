import { hash } from 'node:crypto';
import { networkOf } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';
import type { DataSource } from 'typeorm';
import { BoundedCache } from '../cache/bounded-cache.js';
import { HashingSlots, type HashingTrust } from '../passwords/hashing-slots.js';
import { hashingFor } from '../passwords/hashing-turns.js';
import { RecentFailures } from './recent-failures.js';

export interface LoginThrottleLimits {
  /** Failures of one client address with one account in a window before it is refused; a success clears them. */
  readonly failures: number;
  /** The same for all accounts together, which no success clears: it may be a login to a guesser's own account. */
  readonly addressFailures: number;
  readonly failureWindowSeconds: number;
  /** Window of `addressFailures`. Default: `failureWindowSeconds`. */
  readonly addressFailureWindowSeconds?: number;
  /** Attempts of one client address in a window, whatever their result. */
  readonly attempts: number;
  readonly attemptWindowSeconds: number;
}

export const DEFAULT_LOGIN_LIMITS: LoginThrottleLimits = {
  failures: 5,
  addressFailures: 20,
  failureWindowSeconds: 900,
  attempts: 100,
  attemptWindowSeconds: 60,
};

/** `failed`: wrong credentials; `refused`: a limit refused the attempt. */
export type LoginResult = 'succeeded' | 'failed' | 'refused';

interface Counter {
  count: number;
  age_s: number;
}

interface Limit {
  readonly key: string;
  readonly most: number;
  readonly windowSeconds: number;
}

/** The counters of one attempt. */
interface Standing {
  /** The account has been logged in to from this address, so others at that address cannot lock its owner out. */
  readonly known: boolean;
  /** Failures that lead to a refusal. */
  readonly closing: readonly Limit[];
  readonly attempts: Limit;
}

interface Admission {
  readonly standing: Standing;
  readonly trust: HashingTrust;
  /** Seconds since a successful login from there. */
  readonly noted: number;
}

/** One in this many counted failures also deletes expired windows. */
const SWEEP_EVERY = 50;
const KNOWN_SECONDS = 30 * 86_400;
const KNOWN_PAIRS = 10_000;
/** A login renews its note of the address when the note is older than this. */
const NOTE_AGAIN_SECONDS = 86_400;
/** Suffix of the keys of notes of successful logins, which are kept longer than counts. */
const NOTE = ' +';

/**
 * Does not wait for the disk: after a crash of the database the last moment may be forgotten, and a storm waits for no
 * other write.
 */
const AT_ONCE = `set_config('synchronous_commit', 'off', true)`;

/** $1 key, $2 window in seconds: adds one, and starts a new window if the old one has ended. */
const COUNT = `INSERT INTO login_attempts AS kept (key, window_started_at, count)
  SELECT $1, now(), 1 WHERE ${AT_ONCE} = 'off'
  ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN kept.window_started_at <= now() - make_interval(secs => $2) THEN 1 ELSE kept.count + 1 END,
    window_started_at = CASE WHEN kept.window_started_at <= now() - make_interval(secs => $2) THEN now()
      ELSE kept.window_started_at END
  RETURNING count, extract(epoch FROM now() - window_started_at)::float8 AS age_s`;

const READ = `SELECT key, count, extract(epoch FROM now() - window_started_at)::float8 AS age_s
  FROM login_attempts WHERE key = ANY ($1)`;

const NOTE_LOGIN = `INSERT INTO login_attempts (key, window_started_at, count) VALUES ($1, now(), 0)
  ON CONFLICT (key) DO UPDATE SET window_started_at = now()`;

const SWEEP = `DELETE FROM login_attempts WHERE window_started_at < now() - make_interval(secs => $1)
  AND (key NOT LIKE '%${NOTE}' OR window_started_at < now() - make_interval(secs => $2))`;

/**
 * Counts failed logins in PostgreSQL: the counts survive restarts and replicas share them. Every limit is for one
 * client address, an IPv6 /64 being one, so that nobody is locked out because of other addresses.
 */
export class LoginThrottle {
  private readonly dataSource: DataSource;
  private readonly limits: LoginThrottleLimits;
  private readonly onEnd: (result: LoginResult) => void;
  private readonly recent = new RecentFailures();
  /** Users who have logged in through this process; the database is asked about others later. */
  private readonly known = new BoundedCache<true>(KNOWN_PAIRS);
  /** Limits concurrent queries: a storm leaves most connections to others, and waiting queries take turns. */
  private readonly entry = new HashingSlots({ slots: 4, waiting: 400, rest: 0 });
  private counted = 0;

  /** `onEnd` is called for every attempt. */
  constructor(
    dataSource: DataSource,
    limits: LoginThrottleLimits = DEFAULT_LOGIN_LIMITS,
    onEnd: (result: LoginResult) => void = () => undefined,
  ) {
    this.dataSource = dataSource;
    this.limits = limits;
    this.onEnd = onEnd;
  }

  /**
   * Runs a password check under the limits. It is refused with RATE_LIMITED before it runs, and also if failures that
   * arrived in the meantime used up the limit, so that concurrent guesses gain nothing. Its hashes take turns with
   * those of other addresses. `check` resolves to undefined for wrong credentials, for which the caller answers
   * LOGIN_FAILED. `account`: the given name.
   */
  async attempt<T>(address: string, account: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      const result = await this.tryOnce(address, account, check);
      this.onEnd(result === undefined ? 'failed' : 'succeeded');
      return result;
    } catch (error) {
      if (error instanceof AppError && error.code === 'RATE_LIMITED') this.onEnd('refused');
      throw error;
    }
  }

  private async tryOnce<T>(
    address: string,
    account: string,
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const client = networkOf(address);
    // Hashed, because users sometimes type a password as their name.
    const pair = `${client} ${hash('sha256', account.toLowerCase(), 'base64url').slice(0, 22)}`;
    this.refuseRecent(this.standing(client, pair, true));
    const { standing, trust, noted } = await this.entry.run({ client, trust: this.firstTrust(client, pair) }, () =>
      this.admit(client, pair),
    );
    const assertWanted = (): void => this.refuseRecent(standing);
    const result = await hashingFor({ client, trust, assertWanted }, check);
    if (result === undefined) {
      await this.countFailure(client, pair, standing);
      return undefined;
    }
    refuseClosed(standing, await this.read(standing.closing.map(({ key }) => key)));
    this.recent.forget(pair);
    this.known.set(pair, true, Date.now() + NOTE_AGAIN_SECONDS * 1_000);
    await this.dataSource.query('DELETE FROM login_attempts WHERE key = $1', [pair]);
    if (noted > NOTE_AGAIN_SECONDS) await this.dataSource.query(NOTE_LOGIN, [pair + NOTE]);
    return result;
  }

  private firstTrust(client: string, pair: string): HashingTrust {
    if (this.known.get(pair) === true) return 'known';
    return this.recent.countOf(client) > 0 ? 'failing' : 'new';
  }

  /** Reads the counts from the database, and adds one. @throws RATE_LIMITED */
  private async admit(client: string, pair: string): Promise<Admission> {
    const counters = await this.read([pair, client, pair + NOTE]);
    const noted = counters.get(pair + NOTE)?.age_s ?? Infinity;
    const standing = this.standing(client, pair, noted < KNOWN_SECONDS);
    refuseClosed(standing, counters);
    this.refuseRecent(standing);
    await this.count(standing.attempts);
    return { standing, noted, trust: this.trust(standing, client, counters.get(client)) };
  }

  private get addressWindow(): number {
    return this.limits.addressFailureWindowSeconds ?? this.limits.failureWindowSeconds;
  }

  private standing(client: string, pair: string, known: boolean): Standing {
    const { failures, addressFailures, failureWindowSeconds, attempts, attemptWindowSeconds } = this.limits;
    const windowSeconds = this.addressWindow;
    const ofPair = { key: pair, most: failures, windowSeconds: failureWindowSeconds };
    const ofAddress = { key: client, most: addressFailures, windowSeconds };
    return {
      known,
      closing: known ? [ofPair] : [ofPair, ofAddress],
      attempts: { key: `${known ? pair : client} *`, most: attempts, windowSeconds: attemptWindowSeconds },
    };
  }

  private trust({ known }: Standing, client: string, counter: Counter | undefined): HashingTrust {
    if (known) return 'known';
    const counted = counter !== undefined && counter.age_s < this.addressWindow;
    return counted || this.recent.countOf(client) > 0 ? 'failing' : 'new';
  }

  private refuseRecent({ closing }: Standing): void {
    const limit = closing.find(({ key, most }) => this.recent.countOf(key) >= most);
    if (limit !== undefined) throw refusal(this.recent.secondsLeft(limit.key));
  }

  private async countFailure(client: string, pair: string, { closing }: Standing): Promise<void> {
    const counted = [
      { key: pair, windowSeconds: this.limits.failureWindowSeconds },
      { key: client, windowSeconds: this.addressWindow },
    ];
    for (const { key, windowSeconds } of counted) this.recent.note(key, windowSeconds);
    if (this.counted++ % SWEEP_EVERY === 0) {
      const longest = Math.max(this.limits.failureWindowSeconds, this.addressWindow, this.limits.attemptWindowSeconds);
      await this.dataSource.query(SWEEP, [longest, KNOWN_SECONDS]);
    }
    for (const { key, windowSeconds } of counted) {
      const most = closing.find((limit) => limit.key === key)?.most ?? Infinity;
      await this.count({ key, most, windowSeconds });
    }
  }

  /** @throws RATE_LIMITED if the count is above the limit. */
  private async count(limit: Limit): Promise<void> {
    const [counter] = (await this.dataSource.query(COUNT, [limit.key, limit.windowSeconds])) as Counter[];
    if (counter !== undefined && counter.count > limit.most) throw refusal(limit.windowSeconds - counter.age_s);
  }

  private async read(keys: readonly string[]): Promise<Map<string, Counter>> {
    const rows = (await this.dataSource.query(READ, [keys])) as (Counter & { key: string })[];
    return new Map(rows.map((row) => [row.key, row]));
  }
}

function refuseClosed({ closing }: Standing, counters: ReadonlyMap<string, Counter>): void {
  for (const limit of closing) {
    const counter = counters.get(limit.key);
    if (counter === undefined || counter.age_s >= limit.windowSeconds) continue;
    if (counter.count >= limit.most) throw refusal(limit.windowSeconds - counter.age_s);
  }
}

function refusal(retryAfterSeconds: number): AppError {
  return new AppError('RATE_LIMITED', 'Too many login attempts', { retryAfterSeconds, level: 'info', limit: 'login' });
}
