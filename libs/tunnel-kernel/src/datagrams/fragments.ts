import { protocolError } from '../errors.js';
import { FRAME_HEADER_BYTES, MAX_FRAME_BODY_BYTES } from './frames.js';

/** Index and count; the frame's number takes the place of the session. */
const HEAD_BYTES = 2;
const MAX_FRAGMENTS = 255;
const LIFETIME_MS = 2000;
/** Incomplete frames. */
const MAX_PARTIAL = 64;
const MAX_PARTIAL_BYTES = 2 * 1024 * 1024;

interface Partial {
  parts: (Buffer | undefined)[];
  missing: number;
  bytes: number;
  at: number;
}

/** Cuts a whole frame into parts of at most `size` bytes. */
export function cutFrame(frame: Buffer, size: number): { head: Buffer; part: Buffer }[] {
  const count = Math.ceil(frame.length / size);
  return Array.from({ length: count }, (_, index) => ({
    head: Buffer.of(index, count),
    part: frame.subarray(index * size, (index + 1) * size),
  }));
}

/** Joins the fragments of frames. Incomplete frames are dropped after two seconds. */
export class FragmentJoiner {
  private readonly partials = new Map<number, Partial>();
  private readonly now: () => number;
  private held = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Returns the whole frame, header included, if this part completes it. @throws TunnelError `protocol`. */
  take(number: number, rest: Buffer): Buffer | null {
    const index = rest[0] ?? 0;
    const count = rest[1] ?? 0;
    if (rest.length <= HEAD_BYTES || count < 2 || count > MAX_FRAGMENTS || index >= count) {
      throw protocolError('a fragment with wrong fields');
    }
    const partial = this.partialOf(number, count);
    if (partial.parts[index]) return null;
    const part = Buffer.from(rest.subarray(HEAD_BYTES));
    partial.parts[index] = part;
    partial.missing -= 1;
    partial.bytes += part.length;
    this.held += part.length;
    if (partial.bytes > MAX_FRAME_BODY_BYTES + FRAME_HEADER_BYTES) {
      this.forget(number, partial);
      throw protocolError('fragments of a frame that is too long');
    }
    if (partial.missing > 0) return null;
    this.forget(number, partial);
    return Buffer.concat(partial.parts.filter((known) => known !== undefined));
  }

  private partialOf(number: number, count: number): Partial {
    const known = this.partials.get(number);
    if (known && known.parts.length === count) return known;
    if (known) this.forget(number, known);
    this.makeRoom();
    const parts: Partial['parts'] = Array.from({ length: count });
    const partial = { parts, missing: count, bytes: 0, at: this.now() };
    this.partials.set(number, partial);
    return partial;
  }

  private makeRoom(): void {
    const old = this.now() - LIFETIME_MS;
    for (const [number, partial] of this.partials) {
      const full = this.partials.size >= MAX_PARTIAL || this.held > MAX_PARTIAL_BYTES;
      if (partial.at > old && !full) return;
      this.forget(number, partial);
    }
  }

  private forget(number: number, { bytes }: Partial): void {
    if (this.partials.delete(number)) this.held -= bytes;
  }
}
