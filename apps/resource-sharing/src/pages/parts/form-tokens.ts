import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Tokens of forms: each holds for one browser, through the cookie it carries, and for nobody else. */
export class FormTokens {
  private readonly key: Buffer;

  constructor(secretKey: Buffer) {
    this.key = Buffer.from(hkdfSync('sha256', secretKey, '', 'resource-sharing form tokens', 32));
  }

  /** `cookie`: value of the session cookie, or of the one that stands in for it before a login. */
  of(cookie: string): string {
    return this.digest(cookie).toString('base64url');
  }

  matches(cookie: string | undefined, token: unknown): boolean {
    if (cookie === undefined || typeof token !== 'string') return false;
    const given = Buffer.from(token, 'base64url');
    const wanted = this.digest(cookie);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  private digest(cookie: string): Buffer {
    return createHmac('sha256', this.key).update(cookie).digest();
  }
}
