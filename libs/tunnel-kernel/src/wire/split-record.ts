import type { DecipherGCM } from 'node:crypto';

/** Pieces that are shorter are copied together: each part needs an object and a call of its own. */
const PIECE_BYTES = 16 * 1024;
/** Buffers for short pieces, kept for the next record. */
const spare: Buffer[] = [];
const MAX_SPARE = 32;
const NOTHING: Buffer = Buffer.alloc(0);

/** A long record that arrives in pieces: each is deciphered on arrival, none is delivered before the tag has been checked. */
export class SplitRecord {
  private readonly decipher: DecipherGCM;
  private missing: number;
  private readonly parts: Buffer[] = [];
  private gathered = NOTHING;
  private filled = 0;

  /** `decipher` has the tag; `bytes`: length of the record's text. */
  constructor(decipher: DecipherGCM, bytes: number) {
    this.decipher = decipher;
    this.missing = bytes;
  }

  get isWhole(): boolean {
    return this.missing === 0;
  }

  /** Returns how many of the bytes of `chunk`, from `at` on, belong to the record. Keeps no reference to it. */
  take(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.missing);
    this.missing -= end - at;
    const isShort = end - at < PIECE_BYTES && !this.isWhole;
    const from = isShort || this.filled > 0 ? this.gather(chunk, at, end) : at;
    if (from < end) this.parts.push(this.decipher.update(chunk.subarray(from, end)));
    return end - at;
  }

  /** The parts of the whole record. Null: it was not sealed for this place. */
  open(): Buffer[] | null {
    try {
      this.decipher.final();
      return this.parts;
    } catch {
      return null;
    }
  }

  /** Releases its memory. */
  close(): void {
    if (this.gathered.length > 0 && spare.length < MAX_SPARE) spare.push(this.gathered);
    this.gathered = NOTHING;
    this.filled = 0;
  }

  /** Returns where the rest of the piece begins. */
  private gather(chunk: Buffer, at: number, end: number): number {
    if (this.gathered.length === 0) this.gathered = spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    const copied = chunk.copy(this.gathered, this.filled, at, end);
    this.filled += copied;
    if (this.filled === PIECE_BYTES || this.isWhole) {
      this.parts.push(this.decipher.update(this.gathered.subarray(0, this.filled)));
      this.filled = 0;
    }
    return at + copied;
  }
}
