import type { IncomingHttpHeaders } from 'node:http';

/** The cookie with the session. Secure ones get the `__Host-` prefix, which browsers tie to this host and `/`. */
export class SessionCookie {
  readonly name: string;
  private readonly secure: boolean;

  constructor(name: string, secure: boolean) {
    this.name = secure ? `__Host-${name}` : name;
    this.secure = secure;
  }

  /** Value of the Set-Cookie header that opens a session. */
  open(token: string, maxAgeSeconds: number): string {
    return `${this.name}=${token}; Max-Age=${Math.floor(maxAgeSeconds)}; ${this.attributes()}`;
  }

  /** Value of the Set-Cookie header that clears the cookie. */
  close(): string {
    return `${this.name}=; Max-Age=0; ${this.attributes()}`;
  }

  /** The token of a request. A cookie that is sent twice is ignored, because one of them may be planted. */
  read(headers: IncomingHttpHeaders): string | undefined {
    const start = `${this.name}=`;
    const values = (headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(start));
    const [only] = values;
    if (only === undefined || values.length > 1) return undefined;
    return only.slice(start.length) || undefined;
  }

  private attributes(): string {
    return `Path=/; HttpOnly; SameSite=Lax${this.secure ? '; Secure' : ''}`;
  }
}
