/** `open`: the service needs no password. */
export type SessionState = 'unknown' | 'signed-out' | 'expired' | 'signed-in' | 'open';

type Keeper = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Who is signed in. The token lives as long as the browser's tab and is never sent anywhere but to the service. */
export class Session {
  readonly #storage: Keeper;
  readonly #key: string;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #state: SessionState = 'unknown';
  #token: string | null;

  constructor(key: string, storage: Keeper) {
    this.#key = key;
    this.#storage = storage;
    this.#token = storage.getItem(key);
  }

  get token(): string | null {
    return this.#token;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** After the service said whether it wants a login. */
  begin(loginNeeded: boolean): void {
    if (!loginNeeded) {
      this.#keep(null);
      this.#become('open');
    } else this.#become(this.#token === null ? 'signed-out' : 'signed-in');
  }

  signIn(token: string): void {
    this.#keep(token);
    this.#become('signed-in');
  }

  signOut(): void {
    this.#keep(null);
    this.#become('signed-out');
  }

  /** The service no longer takes the token. */
  expire(): void {
    const hadToken = this.#token !== null;
    this.#keep(null);
    this.#become(hadToken ? 'expired' : 'signed-out');
  }

  onChange(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
