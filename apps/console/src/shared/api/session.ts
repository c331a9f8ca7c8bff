import type { SessionTabs, TabMessage } from './session-tabs.js';

/** `open`: the service needs no password. */
export type SessionState = 'unknown' | 'signed-out' | 'expired' | 'signed-in' | 'open';

type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** How long a new tab waits for another one that is signed in. A later answer still signs it in. */
export const ASK_MS = 200;

/**
 * Who is signed in, in all tabs of a console. Each tab keeps the token for as long as it is open, and it is never sent
 * anywhere but to the service and to other tabs; the last tab that is closed takes it along (decision 0091).
 */
export class Session {
  readonly #storage: TokenStorage;
  readonly #key: string;
  readonly #tabs: SessionTabs | null;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #state: SessionState = 'unknown';
  #token: string | null;

  /** @param tabs null: this tab has a login of its own */
  constructor(key: string, storage: TokenStorage, tabs: SessionTabs | null = null) {
    this.#key = key;
    this.#storage = storage;
    this.#tabs = tabs;
    this.#token = storage.getItem(key);
    tabs?.onMessage((message) => this.#hear(message));
  }

  get token(): string | null {
    return this.#token;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** After the service said whether it wants a login. A tab without a token asks the others first. */
  begin(loginNeeded: boolean): void {
    if (!loginNeeded) {
      this.#keep(null);
      this.#become('open');
    } else if (this.#token !== null) this.#become('signed-in');
    else if (this.#tabs === null) this.#become('signed-out');
    else {
      this.#tabs.send({ kind: 'ask' });
      setTimeout(() => this.#state === 'unknown' && this.#become('signed-out'), ASK_MS);
    }
  }

  signIn(token: string): void {
    this.#take(token);
    this.#tabs?.send({ kind: 'signed-in', token });
  }

  signOut(): void {
    this.#leave('signed-out');
    this.#tabs?.send({ kind: 'signed-out' });
  }

  /** The service no longer takes the token. */
  expire(): void {
    const token = this.#token;
    this.#leave(token === null ? 'signed-out' : 'expired');
    if (token !== null) this.#tabs?.send({ kind: 'expired', token });
  }

  onChange(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #hear(message: TabMessage): void {
    if (this.#state === 'open') return;
    switch (message.kind) {
      case 'ask':
        if (this.#token !== null) this.#tabs?.send({ kind: 'answer', token: this.#token });
        break;
      case 'answer':
        if (this.#token === null) this.#take(message.token);
        break;
      case 'signed-in':
        if (this.#token !== message.token) this.#take(message.token);
        break;
      case 'signed-out':
        this.#leave('signed-out');
        break;
      case 'expired':
        if (this.#token === message.token) this.#leave('expired');
    }
  }

  #take(token: string): void {
    this.#keep(token);
    this.#become('signed-in');
  }

  #leave(state: 'signed-out' | 'expired'): void {
    this.#keep(null);
    this.#become(state);
  }

  #keep(token: string | null): void {
    this.#token = token;
    if (token === null) this.#storage.removeItem(this.#key);
    else this.#storage.setItem(this.#key, token);
  }

  #become(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}
