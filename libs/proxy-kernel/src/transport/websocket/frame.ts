/** WebSocket frames (RFC 6455 5) as a client sends and receives them. Pure: bytes in, bytes out. */
import { freshBytes } from '../fresh-bytes.js';

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const FIN = 0x80;
const RESERVED_BITS = 0x70;
const MASKED = 0x80;
const MASK_BYTES = 4;
const MAX_CONTROL_BYTES = 125;
const MAX_HEADER_BYTES = 10;

export class WebSocketError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebSocketError';
  }
}

/** One whole message in one frame, masked with bytes that no one can foresee (10.3). `payload` is copied. */
export function encodeFrame(opcode: number, payload: Uint8Array, mask: Buffer = freshBytes(MASK_BYTES)): Buffer {
  const extended = payload.length < 126 ? 0 : payload.length < 0x1_0000 ? 2 : 8;
  const headerLength = 2 + extended + MASK_BYTES;
  // The payload begins at a multiple of four, so that it can be masked by words.
  const slack = (4 - (headerLength % 4)) % 4;
  const memory = Buffer.allocUnsafe(slack + headerLength + payload.length);
  const frame = memory.subarray(slack);
  frame[0] = FIN | opcode;
  if (extended === 0) frame[1] = MASKED | payload.length;
  else if (extended === 2) {
    frame[1] = MASKED | 126;
    frame.writeUInt16BE(payload.length, 2);
  } else {
    frame[1] = MASKED | 127;
    frame.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  mask.copy(frame, 2 + extended);
  frame.set(payload, headerLength);
  applyMask(frame.subarray(headerLength), mask);
  return frame;
}

function applyMask(payload: Buffer, mask: Buffer): void {
  const aligned = payload.byteOffset % 4 === 0;
  const wordCount = aligned ? payload.length >>> 2 : 0;
  const words = aligned ? new Uint32Array(payload.buffer, payload.byteOffset, wordCount) : null;
  if (words) {
    const key = new Uint32Array(Uint8Array.from(mask).buffer)[0] ?? 0;
    for (let index = 0; index < wordCount; index += 1) words[index] = (words[index] ?? 0) ^ key;
  }
  for (let index = wordCount * 4; index < payload.length; index += 1) {
    payload[index] = (payload[index] ?? 0) ^ (mask[index & 3] ?? 0);
  }
}

export interface FrameSink {
  /** A piece of a data message, not kept by the decoder. */
  data(piece: Buffer): void;
  /** A whole ping, pong or close. */
  control(opcode: number, payload: Buffer): void;
}

/** Takes a server's frames as they come, cut anywhere. Data passes through; only headers and controls are held. */
export class FrameDecoder {
  private readonly sink: FrameSink;
  private readonly small = Buffer.alloc(MAX_HEADER_BYTES + MAX_CONTROL_BYTES);
  private filled = 0;
  private payloadLeft = 0;
  private inMessage = false;

  /** Whether the stream may end here: between two frames. */
  get atBoundary(): boolean {
    return this.filled === 0 && this.payloadLeft === 0;
  }

  constructor(sink: FrameSink) {
    this.sink = sink;
  }

  /** @throws WebSocketError for what no server may send; the stream is dead then. */
  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.payloadLeft > 0) at += this.takeData(bytes, at);
      else at += this.takeSmall(bytes, at);
    }
  }

  private takeData(bytes: Buffer, at: number): number {
    const size = Math.min(this.payloadLeft, bytes.length - at);
    this.payloadLeft -= size;
    this.sink.data(bytes.subarray(at, at + size));
    return size;
  }

  /** Byte by byte up to a whole header, then a control's payload. */
  private takeSmall(bytes: Buffer, at: number): number {
    const wanted = this.wanted();
    const size = Math.min(wanted - this.filled, bytes.length - at);
    bytes.copy(this.small, this.filled, at, at + size);
    this.filled += size;
    if (this.filled === this.wanted()) this.frameStarts();
    return size;
  }

  /** Bytes of header, and of payload for a control, as far as they can be told. */
  private wanted(): number {
    if (this.filled < 2) return 2;
    const [first = 0, second = 0] = this.small;
    const short = second & 0x7f;
    if ((first & 0x0f) >= OPCODE.close) return short > MAX_CONTROL_BYTES ? 2 : 2 + short;
    return short < 126 ? 2 : short === 126 ? 4 : MAX_HEADER_BYTES;
  }

  private frameStarts(): void {
    const [first = 0, second = 0] = this.small;
    const opcode = first & 0x0f;
    const fin = (first & FIN) !== 0;
    if ((first & RESERVED_BITS) !== 0) throw new WebSocketError('a frame uses an extension that was not agreed on');
    if ((second & MASKED) !== 0) throw new WebSocketError('the server masks its frames');
    if (opcode >= OPCODE.close) this.control(opcode, fin, second & 0x7f);
    else this.data(opcode, fin);
    this.filled = 0;
  }

  private control(opcode: number, fin: boolean, length: number): void {
    if (!fin || length > MAX_CONTROL_BYTES) throw new WebSocketError('a control frame is fragmented or too long');
    if (opcode > OPCODE.pong) throw new WebSocketError(`the opcode ${opcode} is not known`);
    this.sink.control(opcode, Buffer.from(this.small.subarray(2, 2 + length)));
  }

  private data(opcode: number, fin: boolean): void {
    if (opcode > OPCODE.binary) throw new WebSocketError(`the opcode ${opcode} is not known`);
    if ((opcode === OPCODE.continuation) !== this.inMessage) {
      throw new WebSocketError('a fragment is out of order');
    }
    this.inMessage = !fin;
    this.payloadLeft = this.length();
  }

  private length(): number {
    const short = (this.small[1] ?? 0) & 0x7f;
    if (short < 126) return short;
    if (short === 126) return this.small.readUInt16BE(2);
    const long = this.small.readBigUInt64BE(2);
    if (long > BigInt(Number.MAX_SAFE_INTEGER)) throw new WebSocketError('a frame is longer than can be');
    return Number(long);
  }
}
