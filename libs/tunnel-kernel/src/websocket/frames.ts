import { randomFillSync } from 'node:crypto';
import { protocolError } from '../errors.js';
import { applyMask } from './masking.js';

/** RFC 6455 11.8. */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const FIN = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const MAX_CONTROL_BYTES = 125;
const SHORT_LENGTH = 126;
const LONG_LENGTH = 127;
/** Two bytes, eight of length, four of the key. */
const MAX_HEADER_BYTES = 14;
const KEY_BYTES = 4;
const NO_KEY = Buffer.alloc(KEY_BYTES);

export interface FrameHandlers {
  /** A part of a binary message; where messages begin and end does not matter here. */
  data(part: Buffer): void;
  /** A whole close, ping or pong. */
  control(opcode: number, payload: Buffer): void;
}

/** Reads frames of one direction: payloads go on as they come, unmasked in place; nothing but 125 bytes is kept. */
export class WebSocketFrameReader {
  private readonly masked: boolean;
  private readonly handlers: FrameHandlers;
  private readonly header = Buffer.alloc(MAX_HEADER_BYTES);
  private headerBytes = 0;
  private opcode = 0;
  private key = NO_KEY;
  private length = 0;
  private offset = 0;
  private inFrame = false;
  private inMessage = false;
  private control: Buffer | null = null;

  /** `masked`: whether the sender is a client, which must mask; a server must not. */
  constructor(masked: boolean, handlers: FrameHandlers) {
    this.masked = masked;
    this.handlers = handlers;
  }

  /** @throws TunnelError `protocol`; nothing can be read after it. */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (!this.inFrame) {
        this.header[this.headerBytes++] = chunk[at++] as number;
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

  private begin(): void {
    const first = this.header[0] as number;
    const second = this.header[1] as number;
    if ((first & RESERVED) !== 0) throw protocolError('a WebSocket frame with an extension that was not agreed on');
    if (((second & MASKED) !== 0) !== this.masked) throw protocolError('a WebSocket frame of the wrong side');
    this.opcode = first & 0x0f;
    this.length = this.readLength(second & ~MASKED);
    if (this.masked) this.key = Buffer.from(this.header.subarray(this.headerBytes - KEY_BYTES, this.headerBytes));
    this.checkOrder((first & FIN) !== 0);
    this.headerBytes = 0;
    this.offset = 0;
    this.inFrame = true;
  }

  private readLength(short: number): number {
    if (short < SHORT_LENGTH) return short;
    if (short === SHORT_LENGTH) return this.header.readUInt16BE(2);
    const long = this.header.readBigUInt64BE(2);
    if (long > BigInt(Number.MAX_SAFE_INTEGER)) throw protocolError('a WebSocket frame without an end');
    return Number(long);
  }

  private checkOrder(final: boolean): void {
    const { opcode, length } = this;
    if (opcode >= OPCODE.close) {
      if (opcode > OPCODE.pong || !final || length > MAX_CONTROL_BYTES) throw protocolError('a bad WebSocket control');
      this.control = Buffer.alloc(length);
      return;
    }
    const fits = this.inMessage ? opcode === OPCODE.continuation : opcode === OPCODE.binary;
    if (!fits) throw protocolError(`a WebSocket frame of type ${opcode} out of turn`);
    this.inMessage = !final;
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

const RANDOM_BYTES = 4096;
const random = Buffer.alloc(RANDOM_BYTES);
let randomAt = RANDOM_BYTES;

/** Masking keys are to be unpredictable; one call for a thousand of them. */
function nextKey(): Buffer {
  if (randomAt === RANDOM_BYTES) {
    randomFillSync(random);
    randomAt = 0;
  }
  randomAt += KEY_BYTES;
  return random.subarray(randomAt - KEY_BYTES, randomAt);
}

/** First bytes of an unmasked frame of `length` bytes. */
export function frameHeader(opcode: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(headerBytes(length));
  writeHeader(header, opcode, length, 0);
  return header;
}

/** One frame of all parts, copied: masked as a client's where `masked`. */
export function wholeFrame(opcode: number, parts: readonly Uint8Array[], length: number, masked: boolean): Buffer {
  const head = headerBytes(length) + (masked ? KEY_BYTES : 0);
  const frame = Buffer.allocUnsafe(head + length);
  writeHeader(frame, opcode, length, masked ? MASKED : 0);
  let at = head;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  if (!masked) return frame;
  const key = nextKey();
  key.copy(frame, head - KEY_BYTES);
  applyMask(frame.subarray(head), key, 0);
  return frame;
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
