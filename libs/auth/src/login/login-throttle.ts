import { hash } from 'node:crypto';
import { AppError, clientKey } from '@gatehouse/platform';
import type { DataSource } from 'typeorm';

export interface LoginThrottleLimits {
  /** Failures of one client address with one account in a window before it is refused; a success forgives them. */
  readonly failures: number;
  /** The same with all accounts, which no success forgives: it may be that of a guesser's own account. */
  readonly addressFailures: number;
  readonly failureWindowSeconds: number;
  /** Attempts of everybody in a window. */
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

interface Counter {
  count: number;
  retry_after: number;
}

interface FailureLimit {
  readonly key: string;
  readonly failures: number;
}

const EVERYBODY = '*';
/** One of so many counted failures also removes windows that are over. */
const SWEEP_EVERY = 50;

/** $1 key, $2 window in seconds: counts one more and starts a new window when the old one is over. */
const COUNT = `INSERT INTO login_attempts AS kept (key, window_started_at, count) VALUES ($1, now(), 1)
  ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN kept.window_started_at <= now() - make_interval(secs => $2) THEN 1 ELSE kept.count + 1 END,
    window_started_at = CASE WHEN kept.window_started_at <= now() - make_interval(secs => $2) THEN now()
      ELSE kept.window_started_at END
  RETURNING count, extract(epoch FROM window_started_at - now() + make_interval(secs => $2))::float8 AS retry_after`;

const READ = `SELECT count, extract(epoch FROM window_started_at - now() + make_interval(secs => $2))::float8 AS retry_after
  FROM login_attempts WHERE key = $1 AND window_started_at > now() - make_interval(secs => $2)`;

/** Counts failed logins in PostgreSQL: the counts survive restarts and replicas share them. */
export class LoginThrottle {
  private readonly dataSource: DataSource;
  private readonly limits: LoginThrottleLimits;
  private counted = 0;

  constructor(dataSource: DataSource, limits: LoginThrottleLimits = DEFAULT_LOGIN_LIMITS) {
    this.dataSource = dataSource;
    this.limits = limits;
  }

  /**
   * Runs a password check under the limits: refused with RATE_LIMITED before it runs, also refused when failures
   * that arrived meanwhile used the limit up, so that guesses sent at once gain nothing. `check` resolves to
   * undefined for wrong credentials; the caller answers LOGIN_FAILED for that. `account`: the name that was given.
   */
  async attempt<T>(address: string, account: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const limits = this.limitsOf(clientKey(address), account);
    for (const limit of limits) await this.refuseBlocked(limit);
    await this.countAttempt();
    const result = await check();
    if (result === undefined) {
      for (const limit of limits) await this.countFailure(limit);
      return undefined;
    }
    for (const limit of limits) await this.refuseBlocked(limit);
    await this.dataSource.query('DELETE FROM login_attempts WHERE key = $1', [limits[0].key]);
    return result;
  }

  private limitsOf(client: string, account: string): readonly [FailureLimit, FailureLimit] {
    const { failures, addressFailures } = this.limits;
    // Hashed: what somebody types for a name may be a password.
    const name = hash('sha256', account.toLowerCase(), 'base64url').slice(0, 22);
    return [
      { key: `${client} ${name}`, failures },
      { key: client, failures: addressFailures },
    ];
  }

  private async refuseBlocked({ key, failures }: FailureLimit): Promise<void> {
    const [counter] = (await this.dataSource.query(READ, [key, this.limits.failureWindowSeconds])) as Counter[];
    if (counter !== undefined && counter.count >= failures) throw refusal(counter);
  }

  private async countAttempt(): Promise<void> {
    const { attempts, attemptWindowSeconds } = this.limits;
    const [counter] = (await this.dataSource.query(COUNT, [EVERYBODY, attemptWindowSeconds])) as Counter[];
    if (counter !== undefined && counter.count > attempts) throw refusal(counter);
  }

  private async countFailure({ key, failures }: FailureLimit): Promise<void> {
    const [counter] = (await this.dataSource.query(COUNT, [key, this.limits.failureWindowSeconds])) as Counter[];
    if (this.counted++ % SWEEP_EVERY === 0) await this.sweep();
    if (counter !== undefined && counter.count > failures) throw refusal(counter);
  }

  private async sweep(): Promise<void> {
    const longest = Math.max(this.limits.failureWindowSeconds, this.limits.attemptWindowSeconds);
    await this.dataSource.query(
      'DELETE FROM login_attempts WHERE window_started_at < now() - make_interval(secs => $1)',
      [longest],
    );
  }
}

function refusal({ retry_after }: Counter): AppError {
  return new AppError('RATE_LIMITED', 'Too many login attempts', { retryAfterSeconds: retry_after, level: 'info' });
}
