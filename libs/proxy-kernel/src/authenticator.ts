import { createHmac, randomBytes } from 'node:crypto';
import type { GuessLimit } from '@gatehouse/net';
import type { AuthVerdict, KernelLogger } from './interfaces/index.js';
import { WishError, readLogin, userOfLogin } from './users/index.js';

/** The most wrong pairs remembered, so that a program that keeps trying an old password counts as one guess. */
const MAX_WRONG = 1_000;
/** The most names with bad wishes remembered, so that a program that keeps trying one fills no log. */
const MAX_TOLD = 1_000;
/** All listeners share one count of guesses. */
const SCOPE = 'proxy';

/** The users of a listener, kept as digests under a key of this process. */
export class Authenticator {
  private readonly key = randomBytes(32);
  /** Names by digest. A lookup reveals nothing, since nobody outside knows the digest of a pair. */
  private readonly users: ReadonlyMap<string, string>;
  private readonly names: ReadonlySet<string>;
  private readonly limit: GuessLimit;
  private readonly logger: Pick<KernelLogger, 'warn'>;
  private readonly wrong = new Set<string>();
  private readonly told = new Set<string>();

  constructor(
    users: readonly { username: string; password: string }[],
    limit: GuessLimit,
    logger: Pick<KernelLogger, 'warn'>,
  ) {
    this.users = new Map(users.map(({ username, password }) => [this.digest(username, password), username]));
    this.names = new Set(users.map(({ username }) => username));
    this.limit = limit;
    this.logger = logger;
  }

  get required(): boolean {
    return this.users.size > 0;
  }

  /**
   * While the limit of guesses is reached nothing is compared, and right and wrong pairs get the same answer. Wishes are read only behind a right password, so their errors tell no stranger who
   * is a user.
   */
  check(text: string, password: string, address: string): AuthVerdict {
    const username = userOfLogin(text, this.names);
    const guess = { scope: SCOPE, address, account: username };
    const retryAfterSec = this.limit.secondsToWait(guess);
    if (retryAfterSec > 0) return { login: null, retryAfterSec };
    const digest = this.digest(username, password);
    if (this.wrong.has(digest)) return { login: null, retryAfterSec: 0 };
    this.limit.acquire(guess);
    const user = this.users.get(digest);
    if (user === undefined) {
      remember(this.wrong, digest, MAX_WRONG);
      return { login: null, retryAfterSec: 0 };
    }
    this.limit.succeed(guess);
    return this.admit(user, text);
  }

  private admit(user: string, text: string): AuthVerdict {
    try {
      return { login: readLogin(text, user), retryAfterSec: 0 };
    } catch (error) {
      if (!(error instanceof WishError)) throw error;
      if (!this.told.has(text)) {
        this.logger.warn('a login was refused for what its user name asks for', { user, problem: error.message });
      }
      remember(this.told, text, MAX_TOLD);
      return { login: null, problem: error.message, retryAfterSec: 0 };
    }
  }

  private digest(username: string, password: string): string {
    // The length distinguishes `ab` + `c` from `a` + `bc`.
    return createHmac('sha256', this.key).update(`${username.length}:${username}:${password}`).digest('base64');
  }
}

function remember(texts: Set<string>, text: string, most: number): void {
  const [oldest] = texts;
  if (oldest !== undefined && texts.size >= most) texts.delete(oldest);
  texts.add(text);
}
