import type { ByteCounter } from '@gatehouse/net';
import type { HealthBook } from './health-book.js';
import { isTransportFailure, type FailedDial } from './transport-failure.js';

/** Flows tell the health book how their nodes did. */
export class FlowWatch {
  readonly #book: HealthBook;
  /** Open flows without a byte from the far end yet, and their nodes. */
  readonly #waiting = new Map<ByteCounter, string>();

  constructor(book: HealthBook) {
    this.#book = book;
  }

  opened(flow: ByteCounter, tag: string): void {
    this.#waiting.set(flow, tag);
  }

  /** A node is good once something came back through it: many protocols connect without its consent. */
  settle(): void {
    for (const [flow, tag] of this.#waiting) {
      if (flow.download === 0) continue;
      this.#waiting.delete(flow);
      this.#book.flowSucceeded(tag);
    }
  }

  ended(flow: ByteCounter, tag: string, dial: FailedDial): void {
    const unproven = this.#waiting.delete(flow);
    if (flow.download > 0) {
      if (unproven) this.#book.flowSucceeded(tag);
    } else if (isTransportFailure(dial)) this.#book.flowFailed(tag);
    else this.#book.flowEnded(tag);
  }
}
