import type { IncomingHttpHeaders } from 'node:http';

/** The cookie that carries a session. Secure ones get the `__Host-` prefix, which browsers tie to this host and `/`. */
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

  /** Value of the Set-Cookie header that makes the browser forget it. */
  close(): string {
    return `${this.name}=; Max-Age=0; ${this.attributes()}`;
  }

  /** The token a request carries. A cookie of that name sent twice counts as none: one of them is planted. */
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
