/** The most sessions, of all users and of one. The one that was used least recently goes first. */
const MOST = 100_000;
const MOST_OF_USER = 10_000;

interface Session {
  user: string;
  node: string;
  expiresAt: number;
}

export interface SessionKey {
  user: string;
  /** Differs for each session of the user. */
  name: string;
}

export interface SessionLimits {
  all: number;
  ofUser: number;
}

/** The node of each session. Nodes are known by tags, so sessions outlive generations. */
export class NodeSessions {
  readonly #now: () => number;
  readonly #limits: SessionLimits;
  /** Both in the order of last use. */
  readonly #all = new Map<string, Session>();
  readonly #ofUsers = new Map<string, Set<string>>();

  constructor(now: () => number, limits: SessionLimits = { all: MOST, ofUser: MOST_OF_USER }) {
    this.#now = now;
    this.#limits = limits;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Null for a session that is new or has expired. */
  find(key: SessionKey): string | null {
    const session = this.#all.get(textOf(key));
    return session && this.#now() < session.expiresAt ? session.node : null;
  }

  /** Remembers the node, for this long from now. */
  keep(key: SessionKey, node: string, ttlMs: number): void {
    const { user } = key;
    const text = textOf(key);
    this.#forget(text);
    const own = this.#ofUsers.get(user) ?? new Set();
    if (own.size >= this.#limits.ofUser) this.#forgetOldest(own);
    if (this.#all.size >= this.#limits.all) this.#forgetOldest(this.#all);
    this.#all.set(text, { user, node, expiresAt: this.#now() + ttlMs });
    this.#ofUsers.set(user, own.add(text));
  }

  #forgetOldest(inOrder: { keys(): Iterator<string> }): void {
    const { value } = inOrder.keys().next();
    if (value !== undefined) this.#forget(value);
  }

  #forget(text: string): void {
    const session = this.#all.get(text);
    if (!session) return;
    this.#all.delete(text);
    const own = this.#ofUsers.get(session.user);
    own?.delete(text);
    if (own?.size === 0) this.#ofUsers.delete(session.user);
  }
}

function textOf({ user, name }: SessionKey): string {
  return JSON.stringify([user, name]);
}
