import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Tokens of forms: each is valid for one browser, through the cookie that it contains, and for nobody else. */
export class FormTokens {
  /** Newest first: a page that was open when the key changed can still be sent. */
  private readonly keys: readonly Buffer[];

  constructor(secretKeys: readonly [Buffer, ...Buffer[]]) {
    this.keys = secretKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'resource-sharing form tokens', 32)));
  }

  /** `cookie`: value of the session cookie, or of the one that replaces it before a login. */
  of(cookie: string): string {
    const [newest] = this.keys;
    if (newest === undefined) throw new RangeError('There is no secret key.');
    return digest(newest, cookie).toString('base64url');
  }

  matches(cookie: string | undefined, token: unknown): boolean {
    if (cookie === undefined || typeof token !== 'string') return false;
    const given = Buffer.from(token, 'base64url');
    return this.keys.some((key) => {
      const wanted = digest(key, cookie);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    });
  }
}

function digest(key: Buffer, cookie: string): Buffer {
  return createHmac('sha256', key).update(cookie).digest();
}
