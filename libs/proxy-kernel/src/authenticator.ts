import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { GuessLimit } from '@gatehouse/net';
import type { AuthVerdict } from './interfaces/index.js';

/** The most wrong pairs remembered, so that a program that keeps trying an old password counts as one guess. */
const MAX_WRONG = 1_000;
/** All listeners share one count of guesses. */
const SCOPE = 'proxy';

/** The users of a listener, kept as digests under a key of this process. */
export class Authenticator {
  private readonly key = randomBytes(32);
  private readonly digests: { username: string; digest: Buffer }[];
  private readonly limit: GuessLimit;
  private readonly wrong = new Set<string>();

  constructor(users: readonly { username: string; password: string }[], limit: GuessLimit) {
    this.digests = users.map(({ username, password }) => ({ username, digest: this.digest(username, password) }));
    this.limit = limit;
  }

  get required(): boolean {
    return this.digests.length > 0;
  }

  /**
   * Compares with every user in constant time. While the limit of guesses is reached nothing is compared, and right and
   * wrong pairs get the same answer.
   */
  check(username: string, password: string, address: string): AuthVerdict {
    const guess = { scope: SCOPE, address, account: username };
    const retryAfterSec = this.limit.secondsToWait(guess);
    if (retryAfterSec > 0) return { user: null, retryAfterSec };
    const digest = this.digest(username, password);
    const known = digest.toString('base64');
    if (this.wrong.has(known)) return { user: null, retryAfterSec: 0 };
    this.limit.acquire(guess);
    let user: string | null = null;
    for (const one of this.digests) if (timingSafeEqual(one.digest, digest)) user = one.username;
    if (user === null) this.rememberWrong(known);
    else this.limit.succeed(guess);
    return { user, retryAfterSec: 0 };
  }

  private rememberWrong(digest: string): void {
    const [oldest] = this.wrong;
    if (oldest !== undefined && this.wrong.size >= MAX_WRONG) this.wrong.delete(oldest);
    this.wrong.add(digest);
  }

  private digest(username: string, password: string): Buffer {
    // The length distinguishes `ab` + `c` from `a` + `bc`.
    return createHmac('sha256', this.key).update(`${username.length}:${username}:${password}`).digest();
  }
}
