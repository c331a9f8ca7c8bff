import { protocolError } from '../errors.js';

/** Type (1), length of the payload (3), stream (4). */
const MUX_HEADER_BYTES = 8;
export const MAX_MUX_FRAME_BYTES = 64 * 1024;
const NUMBER_BYTES = 4;

export const MUX_FRAME = {
  /** Bytes of a stream. */
  data: 0,
  /** A new stream, from the side that opened the transport. */
  open: 1,
  /** Grants this many more bytes. */
  window: 2,
  /** End of this direction. */
  end: 3,
  /** The stream is aborted in both directions. */
  reset: 4,
  ping: 5,
  pong: 6,
} as const;

/** Length of the payload by type; data has its own limit. */
const LENGTHS: readonly number[] = [-1, 0, NUMBER_BYTES, 0, 0, NUMBER_BYTES, NUMBER_BYTES];
/** Types that belong to the connection and not to a stream. */
const OF_NO_STREAM: ReadonlySet<number> = new Set([MUX_FRAME.ping, MUX_FRAME.pong]);

export function muxHeader(type: number, length: number, stream: number): Buffer {
  const header = Buffer.allocUnsafe(MUX_HEADER_BYTES);
  header.writeUInt32BE(length, 0);
  header[0] = type;
  header.writeUInt32BE(stream, 4);
  return header;
}

/** A frame of type `window`, `ping` or `pong`. */
export function muxNumber(type: number, stream: number, value: number): Buffer {
  const frame = Buffer.allocUnsafe(MUX_HEADER_BYTES + NUMBER_BYTES);
  frame.writeUInt32BE(NUMBER_BYTES, 0);
  frame[0] = type;
  frame.writeUInt32BE(stream, 4);
  frame.writeUInt32BE(value, MUX_HEADER_BYTES);
  return frame;
}

export interface MuxFrameHandlers {
  /** The header of a `data` frame, before its bytes. */
  dataBegins(stream: number, length: number): void;
  /** Bytes of that frame as they arrive. */
  data(stream: number, part: Buffer): void;
  /** Any other frame; `value` is 0 for those without a number. */
  frame(type: number, stream: number, value: number): void;
}

/** Splits received bytes into frames without buffering payloads. */
export class MuxFrameReader {
  private readonly handlers: MuxFrameHandlers;
  private readonly header = Buffer.alloc(MUX_HEADER_BYTES + NUMBER_BYTES);
  private have = 0;
  private stream = 0;
  private remaining = 0;

  constructor(handlers: MuxFrameHandlers) {
    this.handlers = handlers;
  }

  /** @throws TunnelError `protocol`; nothing can be read after it. */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.remaining > 0) {
        const part = chunk.subarray(at, at + this.remaining);
        this.remaining -= part.length;
        at += part.length;
        this.handlers.data(this.stream, part);
      } else at += this.takeHeader(chunk, at);
    }
  }

  private takeHeader(chunk: Buffer, at: number): number {
    const wanted = MUX_HEADER_BYTES + (this.have < MUX_HEADER_BYTES ? 0 : NUMBER_BYTES);
    const taken = chunk.copy(this.header, this.have, at, at + wanted - this.have);
    this.have += taken;
    if (this.have < wanted) return taken;
    const type = this.header[0] as number;
    const length = this.header.readUIntBE(1, 3);
    const stream = this.header.readUInt32BE(4);
    if (this.have === MUX_HEADER_BYTES) {
      checkHeader(type, length, stream);
      if (type !== MUX_FRAME.data && length > 0) return taken;
    }
    this.have = 0;
    if (type !== MUX_FRAME.data) this.handlers.frame(type, stream, length > 0 ? this.header.readUInt32BE(8) : 0);
    else this.beginData(stream, length);
    return taken;
  }

  private beginData(stream: number, length: number): void {
    this.stream = stream;
    this.remaining = length;
    this.handlers.dataBegins(stream, length);
  }
}

function checkHeader(type: number, length: number, stream: number): void {
  const known = LENGTHS[type];
  const fits = known === -1 ? length > 0 && length <= MAX_MUX_FRAME_BYTES : length === known;
  if (!fits || (stream === 0) !== OF_NO_STREAM.has(type)) {
    throw protocolError(`a frame of type ${type} with ${length} bytes for stream ${stream}`);
  }
}
