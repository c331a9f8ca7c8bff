import { setFlowTimeout } from '@gatehouse/net';
import { DialError } from '../interfaces/outbound.js';

/** A signal that aborts with the caller's signal or after a time. Call `clear` when the work is done. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort = (): void => this.#controller.abort(this.#outer?.reason);

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.#outer = outer;
    const late = (): void =>
      this.#controller.abort(new DialError('dial', 'timeout', `no answer within ${timeoutMs} ms`));
    this.#timer = setFlowTimeout(null, late, timeoutMs);
    outer?.addEventListener('abort', this.#onOuterAbort, { once: true });
    if (outer?.aborted) this.#onOuterAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops waiting when the signal aborts, even if the work ignores it; a late result is disposed of. */
  async within<T>(work: Promise<T>, dispose: (late: T) => void = () => undefined): Promise<T> {
    const { signal } = this;
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
    try {
      return await Promise.race([work, aborted]);
    } catch (error) {
      work.then(dispose, () => undefined);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuterAbort);
  }
}
