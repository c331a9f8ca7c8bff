import { AppError, networkOf, type WindowCounter } from '@gatehouse/platform';

const HOUR_MS = 3_600_000;
/** Of an account, and of all accounts of a network, in an hour; a code has 34 bits (RFC 8628 section 5.1). */
const OF_ACCOUNT = 30;
const OF_NETWORK = 100;

/** Limits how many codes of devices people enter. */
export class UserCodeTries {
  private readonly counter: WindowCounter;

  constructor(counter: WindowCounter) {
    this.counter = counter;
  }

  /**
   * Counts right and wrong codes alike, before one is looked up: guesses that arrive together gain nothing.
   * @throws AppError RATE_LIMITED
   */
  async count(userId: number, ip: string | undefined): Promise<void> {
    for (const [whose, most] of [
      [String(userId), OF_ACCOUNT],
      [networkOf(ip ?? ''), OF_NETWORK],
    ] as const) {
      const { hits, remainingMs } = await this.counter.hit(`device code ${whose}`, HOUR_MS);
      if (hits <= most) continue;
      throw new AppError('RATE_LIMITED', 'Too many device codes were entered', {
        retryAfterSeconds: remainingMs / 1_000,
        level: 'info',
        limit: 'device codes',
      });
    }
  }
}
