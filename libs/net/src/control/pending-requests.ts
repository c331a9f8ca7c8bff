/** Starts a timer, and returns what cancels it. */
export type StartTimer = (ms: number, run: () => void) => () => void;

const systemTimer: StartTimer = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
  cancelTimeout(): void;
}

/** Requests without an answer yet. Each is settled once: by its answer, by its time, or by the end of the channel. */
export class PendingRequests {
  private readonly after: StartTimer;
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;

  constructor(after = systemTimer) {
    this.after = after;
  }

  /** `send` gets the number that the answer will carry. `late` makes the error of a request whose time is over. */
  add(timeoutMs: number, send: (id: number) => void, late: () => Error): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      const cancelTimeout = this.after(timeoutMs, () => this.reject(id, late()));
      this.pending.set(id, { resolve, reject, cancelTimeout });
      send(id);
    });
  }

  /** An answer that comes late, or twice, changes nothing. */
  resolve(id: number, result: unknown): void {
    this.take(id)?.resolve(result);
  }

  reject(id: number, error: Error): void {
    this.take(id)?.reject(error);
  }

  rejectAll(error: Error): void {
    // Taking deletes from the map, which its iterator allows.
    for (const id of this.pending.keys()) this.reject(id, error);
  }

  private take(id: number): Pending | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    pending?.cancelTimeout();
    return pending;
  }
}
