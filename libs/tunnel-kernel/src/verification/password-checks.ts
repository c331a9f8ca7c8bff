import { TunnelError } from '../errors.js';

/** Whether a password is that of an encoded hash. */
export type VerifyPassword = (encoded: string, password: string) => Promise<boolean>;

const MAX_AT_ONCE = 4;
const MAX_WAITING = 64;
const MAX_PASSWORD_BYTES = 1024;

/** Slow hashes, a few at a time, so that guesses do not take the threads that everything else needs. */
export class PasswordChecks {
  private readonly verify: VerifyPassword;
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(verify: VerifyPassword) {
    this.verify = verify;
  }

  /** A hash that is none fits nothing. @throws TunnelError `overloaded`, or what the hash function raises. */
  async check(encoded: string, password: string): Promise<boolean> {
    if (encoded === '' || password === '' || Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return false;
    await this.turn();
    try {
      return await this.verify(encoded, password);
    } finally {
      this.running -= 1;
      this.waiting.shift()?.();
    }
  }

  private async turn(): Promise<void> {
    if (this.running >= MAX_AT_ONCE) {
      if (this.waiting.length >= MAX_WAITING) throw new TunnelError('overloaded', 'too many passwords to check');
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    this.running += 1;
  }
}
