/** Memory for small parts; little at first, because many peers send only a few bytes. */
const FIRST_TAIL_BYTES = 1024;
const TAIL_BYTES = 16 * 1024;
/** Smaller parts are copied together: otherwise each would keep its whole read buffer alive. */
const SMALL_BYTES = 4 * 1024;

/** Bytes that wait for their reader, in little more memory than their length. */
export class HeldBytes {
  private parts: Buffer[] = [];
  /** Buffer of the last part if it was copied, else null. */
  private tail: Buffer | null = null;

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  push(part: Buffer): void {
    if (part.length >= SMALL_BYTES) {
      this.keep(part);
    } else if (!this.append(part)) {
      const bytes = this.tail ? Math.min(TAIL_BYTES, this.tail.length * 4) : FIRST_TAIL_BYTES;
      this.tail = Buffer.allocUnsafeSlow(Math.max(bytes, part.length));
      this.tail.set(part);
      this.parts.push(this.tail.subarray(0, part.length));
    }
  }

  /** As `push`, for bytes in memory of their own. */
  keep(part: Buffer): void {
    this.tail = null;
    this.parts.push(part);
  }

  unshift(part: Uint8Array): void {
    this.parts.unshift(Buffer.isBuffer(part) ? part : Buffer.from(part.buffer, part.byteOffset, part.length));
  }

  shift(): Buffer | undefined {
    if (this.parts.length === 1) this.tail = null;
    return this.parts.shift();
  }

  clear(): void {
    this.parts = [];
    this.tail = null;
  }

  private append(part: Buffer): boolean {
    const last = this.parts.at(-1);
    if (!this.tail || !last || last.length + part.length > this.tail.length) return false;
    this.tail.set(part, last.length);
    this.parts[this.parts.length - 1] = this.tail.subarray(0, last.length + part.length);
    return true;
  }
}
