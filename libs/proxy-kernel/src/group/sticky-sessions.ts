interface Session {
  member: string;
  usedAt: number;
}

/** Sessions kept; the one longest unused makes room. */
const MAX_SESSIONS = 4096;
/** A session without a new flow for this long may move. */
export const SESSION_MS = 10 * 60_000;

/** Which member each session took. In order of last use. */
export class StickySessions {
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Null for a session that is new or over. */
  find(key: string): string | null {
    const session = this.#sessions.get(key);
    return session && this.#now() - session.usedAt < SESSION_MS ? session.member : null;
  }

  keep(key: string, member: string): void {
    this.#sessions.delete(key);
    this.#sessions.set(key, { member, usedAt: this.#now() });
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest);
  }
}
