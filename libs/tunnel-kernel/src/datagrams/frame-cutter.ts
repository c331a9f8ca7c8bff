import { protocolError } from '../errors.js';
import { FRAME_HEADER_BYTES, MAX_FRAME_BODY_BYTES, NOTHING, type FrameHandler } from './frames.js';

/** Splits a stream into datagram frames. A frame that lies within one chunk is not copied. */
export class FrameCutter {
  private readonly handler: FrameHandler;
  /** The beginning of an incomplete frame. */
  private rest = NOTHING;

  constructor(handler: FrameHandler) {
    this.handler = handler;
  }

  /** @throws TunnelError `protocol`; nothing can be read after it. */
  read(chunk: Buffer): void {
    let data = chunk;
    if (this.rest.length > 0) {
      const from = this.complete(chunk);
      if (from < 0) return;
      data = chunk.subarray(from);
    }
    let at = 0;
    while (data.length - at >= FRAME_HEADER_BYTES) {
      const end = at + FRAME_HEADER_BYTES + bodyLength(data, at);
      if (end > data.length) break;
      this.handler(data[at] ?? 0, data.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    // Copied, because the chunk may be reused.
    if (at < data.length) this.rest = Buffer.from(data.subarray(at));
  }

  /**
   * Takes the rest of an incomplete frame from `chunk`; returns where the next one begins, or -1 if bytes are still
   * missing.
   */
  private complete(chunk: Buffer): number {
    let from = 0;
    if (this.rest.length < FRAME_HEADER_BYTES) {
      from = Math.min(chunk.length, FRAME_HEADER_BYTES - this.rest.length);
      this.rest = Buffer.concat([this.rest, chunk.subarray(0, from)]);
      if (this.rest.length < FRAME_HEADER_BYTES) return -1;
    }
    const end = from + FRAME_HEADER_BYTES + bodyLength(this.rest, 0) - this.rest.length;
    this.rest = Buffer.concat([this.rest, chunk.subarray(from, end)]);
    if (end > chunk.length) return -1;
    const whole = this.rest;
    this.rest = NOTHING;
    this.handler(whole[0] ?? 0, whole.subarray(FRAME_HEADER_BYTES));
    return end;
  }
}

function bodyLength(data: Buffer, at: number): number {
  const length = data.readUIntBE(at + 1, 3);
  if (length > MAX_FRAME_BODY_BYTES) throw protocolError(`a frame of datagrams of ${length} bytes`);
  return length;
}
