import { withRoomBefore } from '@gatehouse/net';
import { ReusableChannelStream } from './reusable-channel-stream.js';
import { READY } from './prelude.js';

/** Length of what follows, big endian; 0 ends the direction. */
const HEADER_BYTES = 3;
const MAX_FRAME_BYTES = 0xff_ff_ff;
const END = Buffer.alloc(HEADER_BYTES);
/** Up to this size, one buffer for header and bytes is cheaper than two. */
const JOINED_BYTES = 4096;

/** Bytes in frames, for transports on which an end looks like an abort: Node's TLS, and TCP of a killed process. */
export class FramedStream extends ReusableChannelStream {
  /** Missing bytes of the current frame. */
  private remaining = 0;
  /** The header as far as it has arrived. */
  private header = 0;
  private headerBytes = 0;
  private endRead = false;

  protected send(chunk: Uint8Array): boolean {
    if (chunk.length > MAX_FRAME_BYTES) {
      this.send(chunk.subarray(0, MAX_FRAME_BYTES));
      return this.send(chunk.subarray(MAX_FRAME_BYTES));
    }
    const { inner } = this;
    const whole = withRoomBefore(chunk, HEADER_BYTES) ?? joined(chunk);
    if (whole) {
      whole.writeUIntBE(chunk.length, 0, HEADER_BYTES);
      return inner.write(whole);
    }
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUIntBE(chunk.length, 0, HEADER_BYTES);
    inner.cork();
    inner.write(header);
    const room = inner.write(chunk);
    inner.uncork();
    return room;
  }

  protected sendBehind(lead: Buffer, chunk: Uint8Array): boolean {
    const { inner } = this;
    if (chunk.length === 0) return inner.write(lead);
    if (chunk.length <= JOINED_BYTES) {
      const whole = Buffer.allocUnsafe(lead.length + HEADER_BYTES + chunk.length);
      whole.set(lead);
      whole.writeUIntBE(chunk.length, lead.length, HEADER_BYTES);
      whole.set(chunk, lead.length + HEADER_BYTES);
      return inner.write(whole);
    }
    inner.cork();
    inner.write(lead);
    const room = this.send(chunk);
    inner.uncork();
    return room;
  }

  protected sendEnd(): void {
    this.inner.write(END);
  }

  protected sendReady(): void {
    this.inner.write(READY);
  }

  /** Passes on the bytes of all frames in `chunk` as one: they are moved together over the headers between them. */
  protected read(chunk: Buffer): void {
    if (this.endRead) {
      this.inner.release?.();
      return this.afterEnd(chunk);
    }
    let [start, end] = [0, 0];
    let at = 0;
    while (at < chunk.length && !this.endRead) {
      if (this.remaining === 0) {
        at = this.readHeader(chunk, at);
        continue;
      }
      const next = Math.min(chunk.length, at + this.remaining);
      this.remaining -= next - at;
      [start, end] = joinParts(chunk, [start, end], [at, next]);
      at = next;
    }
    const kept = end > start && !this.received(chunk.subarray(start, end));
    if (!kept) this.inner.release?.();
    if (this.endRead) this.ended();
    if (at < chunk.length) this.afterEnd(chunk.subarray(at));
  }

  private readHeader(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length && this.headerBytes < HEADER_BYTES) {
      this.header = this.header * 256 + (chunk[at++] as number);
      this.headerBytes += 1;
    }
    if (this.headerBytes < HEADER_BYTES) return at;
    this.remaining = this.header;
    this.header = 0;
    this.headerBytes = 0;
    this.endRead = this.remaining === 0;
    return at;
  }
}

type Range = [start: number, end: number];

/** Moves the shorter of two parts of `chunk` next to the other, and returns where both are then. */
function joinParts(chunk: Buffer, [start, end]: Range, [from, to]: Range): Range {
  if (end === start) return [from, to];
  if (to - from < end - start) {
    chunk.copyWithin(end, from, to);
    return [start, end + to - from];
  }
  chunk.copyWithin(from - (end - start), start, end);
  return [from - (end - start), to];
}

function joined(chunk: Uint8Array): Buffer | null {
  if (chunk.length > JOINED_BYTES) return null;
  const whole = Buffer.allocUnsafe(HEADER_BYTES + chunk.length);
  whole.set(chunk, HEADER_BYTES);
  return whole;
}
