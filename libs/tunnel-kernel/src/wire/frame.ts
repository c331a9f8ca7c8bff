import { protocolError } from '../errors.js';

/** Type (one byte) and length of the body (three bytes, big endian). */
export const FRAME_HEADER_BYTES = 4;
const NOTHING = Buffer.alloc(0);

export interface Frame {
  type: number;
  body: Buffer;
}

/** @throws RangeError for a body whose length does not fit into three bytes. */
export function encodeFrame(type: number, body: Uint8Array): Buffer {
  if (body.length > 0xff_ff_ff) throw new RangeError(`a frame of ${body.length} bytes`);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + body.length);
  frame.writeUInt8(type, 0);
  frame.writeUIntBE(body.length, 1, 3);
  frame.set(body, FRAME_HEADER_BYTES);
  return frame;
}

/**
 * Splits a stream into frames. Buffers at most one body, whose length is checked against the limit of its type first;
 * the work is linear in the bytes, however they are split.
 */
export class FrameDecoder {
  private readonly limitOf: (type: number) => number;
  private readonly header = Buffer.alloc(FRAME_HEADER_BYTES);
  private headerBytes = 0;
  private body: Buffer | null = null;
  private bodyBytes = 0;
  private broken = false;

  /** `limitOf`: longest body of a type at this moment; a negative number refuses the type. */
  constructor(limitOf: (type: number) => number) {
    this.limitOf = limitOf;
  }

  /** Yields the frames that `chunk` completes. @throws TunnelError `protocol`; nothing can be read after it. */
  *read(chunk: Buffer): Generator<Frame> {
    if (this.broken) throw protocolError('the stream of frames is broken');
    let offset = 0;
    while (offset < chunk.length) {
      offset += this.body === null ? this.takeHeader(chunk, offset) : this.takeBody(chunk, offset);
      const frame = this.complete();
      if (frame) yield frame;
    }
  }

  private takeHeader(chunk: Buffer, offset: number): number {
    const taken = chunk.copy(this.header, this.headerBytes, offset);
    this.headerBytes += taken;
    if (this.headerBytes < FRAME_HEADER_BYTES) return taken;
    const type = this.header.readUInt8(0);
    const length = this.header.readUIntBE(1, 3);
    if (length > this.limitOf(type)) {
      this.broken = true;
      throw protocolError(`a frame of type ${type} with ${length} bytes`);
    }
    this.body = length === 0 ? NOTHING : Buffer.allocUnsafe(length);
    return taken;
  }

  private takeBody(chunk: Buffer, offset: number): number {
    const taken = chunk.copy(this.body ?? NOTHING, this.bodyBytes, offset);
    this.bodyBytes += taken;
    return taken;
  }

  private complete(): Frame | null {
    const { body } = this;
    if (body === null || this.bodyBytes < body.length) return null;
    this.headerBytes = 0;
    this.body = null;
    this.bodyBytes = 0;
    return { type: this.header.readUInt8(0), body };
  }
}
