/** WebSocket frames (RFC 6455 5), read and written. Pure: bytes in, bytes out. */
import { freshBytes } from '../fresh-bytes.js';
import { applyMask } from './masking.js';

/** RFC 6455 11.8. */
export const WEBSOCKET_OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const OPCODE = WEBSOCKET_OPCODE;
const FIN = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const MAX_CONTROL_BYTES = 125;
const SHORT_LENGTH = 126;
const LONG_LENGTH = 127;
/** Two bytes, eight of length, four of the key. */
const MAX_HEADER_BYTES = 14;
const KEY_BYTES = 4;
/** From this length on, aligning a payload costs less than it saves. */
const ALIGNED_BYTES = 4096;
const NO_KEY = Buffer.alloc(KEY_BYTES);

/** The other side sent what the protocol does not allow. */
export class WebSocketError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebSocketError';
  }
}

export interface WebSocketFrameHandlers {
  /** A part of a message; where messages begin and end is not said. The reader keeps none of it. */
  data(part: Buffer): void;
  /** A whole close, ping or pong. */
  control(opcode: number, payload: Buffer): void;
}

export interface WebSocketFrameOptions {
  /** Whether the sender is a client, which must mask; a server must not. */
  masked: boolean;
  /** Whether text messages are read like binary ones. Otherwise they are refused. */
  text?: boolean;
}

/**
 * Reads the frames of one direction, however they are cut. Payloads are passed on as they come, unmasked in place; the
 * reader keeps at most a header and the 125 bytes of a control frame.
 */
export class WebSocketFrameReader {
  private readonly masked: boolean;
  private readonly text: boolean;
  private readonly handlers: WebSocketFrameHandlers;
  private readonly header = Buffer.alloc(MAX_HEADER_BYTES);
  private headerBytes = 0;
  private opcode = 0;
  private key = NO_KEY;
  private length = 0;
  private offset = 0;
  private inFrame = false;
  private inMessage = false;
  private control: Buffer | null = null;

  constructor({ masked, text = false }: WebSocketFrameOptions, handlers: WebSocketFrameHandlers) {
    this.masked = masked;
    this.text = text;
    this.handlers = handlers;
  }

  /** Whether the stream may end here: between two frames. */
  get atBoundary(): boolean {
    return !this.inFrame && this.headerBytes === 0;
  }

  /** @throws WebSocketError; nothing can be read after it. */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (!this.inFrame) {
        this.header[this.headerBytes++] = chunk[at++] as number;
        if (this.headerBytes === 2) this.checkStart();
        if (this.headerBytes < 2 || this.headerBytes < this.headerLength()) continue;
        this.begin();
      } else at += this.take(chunk.subarray(at, at + this.length - this.offset));
      if (this.inFrame && this.offset === this.length) this.finish();
    }
  }

  private headerLength(): number {
    const length = (this.header[1] as number) & ~MASKED;
    const extended = length === SHORT_LENGTH ? 2 : length === LONG_LENGTH ? 8 : 0;
    return 2 + extended + (this.masked ? KEY_BYTES : 0);
  }

  /** What the first two bytes say, before anything else of the frame is waited for. */
  private checkStart(): void {
    const first = this.header[0] as number;
    const second = this.header[1] as number;
    if ((first & RESERVED) !== 0) throw new WebSocketError('a frame with an extension that was not agreed on');
    if (((second & MASKED) !== 0) !== this.masked) {
      throw new WebSocketError(this.masked ? 'a frame without a mask' : 'a frame with a mask');
    }
    this.opcode = first & 0x0f;
    if (this.opcode < OPCODE.close) return this.checkOrder((first & FIN) !== 0);
    if (this.opcode > OPCODE.pong) throw new WebSocketError(`a control frame of type ${this.opcode}`);
    if ((first & FIN) === 0) throw new WebSocketError('a control frame in parts');
    if ((second & ~MASKED) > MAX_CONTROL_BYTES) throw new WebSocketError('a control frame that is too long');
  }

  private checkOrder(final: boolean): void {
    const { opcode } = this;
    const starts = opcode === OPCODE.binary || (opcode === OPCODE.text && this.text);
    if (this.inMessage ? opcode !== OPCODE.continuation : !starts) {
      throw new WebSocketError(`a frame of type ${opcode} out of turn`);
    }
    this.inMessage = !final;
  }

  private begin(): void {
    this.length = this.readLength((this.header[1] as number) & ~MASKED);
    if (this.masked) this.key = Buffer.from(this.header.subarray(this.headerBytes - KEY_BYTES, this.headerBytes));
    if (this.opcode >= OPCODE.close) this.control = Buffer.alloc(this.length);
    this.headerBytes = 0;
    this.offset = 0;
    this.inFrame = true;
  }

  private readLength(short: number): number {
    if (short < SHORT_LENGTH) return short;
    if (short === SHORT_LENGTH) return this.header.readUInt16BE(2);
    const long = this.header.readBigUInt64BE(2);
    if (long > BigInt(Number.MAX_SAFE_INTEGER)) throw new WebSocketError('a frame longer than can be');
    return Number(long);
  }

  private take(part: Buffer): number {
    if (this.masked) applyMask(part, this.key, this.offset);
    if (this.control) part.copy(this.control, this.offset);
    this.offset += part.length;
    if (!this.control) this.handlers.data(part);
    return part.length;
  }

  private finish(): void {
    const { control } = this;
    this.inFrame = false;
    this.control = null;
    if (control) this.handlers.control(this.opcode, control);
  }
}

/** First bytes of a server's frame, before a payload of `length` bytes. */
export function webSocketFrameHeader(opcode: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(headerBytes(length));
  writeHeader(header, opcode, length, 0);
  return header;
}

/** A server's frame of all parts, copied. */
export function webSocketFrame(opcode: number, parts: readonly Uint8Array[]): Buffer {
  const length = totalLength(parts);
  const head = headerBytes(length);
  const frame = Buffer.allocUnsafe(head + length);
  writeHeader(frame, opcode, length, 0);
  writeParts(frame, parts, head);
  return frame;
}

/** A client's frame of all parts, copied, and masked with bytes that nobody can foresee (RFC 6455 10.3). */
export function maskedWebSocketFrame(
  opcode: number,
  parts: readonly Uint8Array[],
  key: Buffer = freshBytes(KEY_BYTES),
): Buffer {
  const length = totalLength(parts);
  const head = headerBytes(length) + KEY_BYTES;
  // A large payload begins at a multiple of eight, where it is copied and masked faster.
  const slack = length < ALIGNED_BYTES ? 0 : -head & 7;
  const memory = Buffer.allocUnsafe(slack + head + length);
  const frame = slack === 0 ? memory : memory.subarray(slack);
  writeHeader(frame, opcode, length, MASKED);
  key.copy(frame, head - KEY_BYTES);
  writeParts(frame, parts, head);
  applyMask(frame.subarray(head), key, 0);
  return frame;
}

function totalLength(parts: readonly Uint8Array[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

function writeParts(frame: Buffer, parts: readonly Uint8Array[], start: number): void {
  let at = start;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
}

function headerBytes(length: number): number {
  if (length < SHORT_LENGTH) return 2;
  return length < 0x1_00_00 ? 4 : 10;
}

function writeHeader(target: Buffer, opcode: number, length: number, mask: number): void {
  target[0] = FIN | opcode;
  const bytes = headerBytes(length);
  target[1] = mask | (bytes === 2 ? length : bytes === 4 ? SHORT_LENGTH : LONG_LENGTH);
  if (bytes === 4) target.writeUInt16BE(length, 2);
  else if (bytes === 10) target.writeBigUInt64BE(BigInt(length), 2);
}
