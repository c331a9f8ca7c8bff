/** Whether the service answers, for everything that shows something of it. */
export class Reachability {
  #away = false;
  readonly #listeners = new Set<() => void>();

  /** The last request got no answer. */
  get away(): boolean {
    return this.#away;
  }

  report(away: boolean): void {
    if (this.#away === away) return;
    this.#away = away;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener with each change of `away`, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
