/** A POST that was sent and may or may not have arrived. */
interface Unanswered {
  request: string;
  key: string;
}

const KEY_BYTES = 16;

/**
 * Keys for `Idempotency-Key`: another for each request, but the same for one that is sent again because it was not
 * answered. So pressing a button again after the connection was lost makes nothing twice.
 */
export class RepeatKeys {
  #unanswered: Unanswered | null = null;

  keyFor(path: string, body: string): string {
    const request = `${path} ${body}`;
    if (this.#unanswered?.request !== request) this.#unanswered = { request, key: randomKey() };
    return this.#unanswered.key;
  }

  /** Whatever the answer was: the next such request is another one. */
  answered(key: string): void {
    if (this.#unanswered?.key === key) this.#unanswered = null;
  }
}

/** Unlike `randomUUID` it is there on pages without https, too. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
