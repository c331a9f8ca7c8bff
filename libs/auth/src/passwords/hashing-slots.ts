import { AppError } from '@gatehouse/platform';

/**
 * Lets few hashes run at a time and few more wait, so that a storm of logins costs bounded memory and CPU;
 * raises SERVICE_UNAVAILABLE with Retry-After beyond that.
 */
export class HashingSlots {
  private readonly waiting: (() => void)[] = [];
  private running = 0;
  private readonly limit: number;
  private readonly queueLimit: number;

  constructor(limit: number, queueLimit: number) {
    this.limit = limit;
    this.queueLimit = queueLimit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.running < this.limit) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= this.queueLimit) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many logins at once', { retryAfterSeconds: 2, level: 'warn' });
    }
    // The slot is handed over by leave(), so `running` stays as it is.
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}
