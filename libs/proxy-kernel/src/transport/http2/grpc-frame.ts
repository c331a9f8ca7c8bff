/** Messages of gRPC with one bytes field (`gun`): `0 ‖ length(4) ‖ 0x0A ‖ uvarint ‖ payload`. Pure: bytes in, bytes out. */

const PREFIX_BYTES = 5;
const FIELD_BYTES = 0x0a;
const MAX_VARINT_BYTES = 5;

export class GrpcFrameError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GrpcFrameError';
  }
}

/** The bytes before a payload of this length. */
export function messageHead(length: number): Buffer {
  const varint: number[] = [];
  for (let rest = length; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      varint.push(rest);
      break;
    }
    varint.push((rest % 128) | 128);
  }
  const head = Buffer.from([0, 0, 0, 0, 0, FIELD_BYTES, ...varint]);
  head.writeUInt32BE(1 + varint.length + length, 1);
  return head;
}

/** Decodes messages that may be cut anywhere. Payloads pass through; only heads are buffered. */
export class GrpcFrameDecoder {
  private readonly give: (piece: Buffer) => void;
  private readonly head: number[] = [];
  /** Bytes of the message after its prefix, including the head of its field. */
  private messageLeft = 0;
  private payloadLeft = 0;
  private state: 'prefix' | 'field' | 'payload' = 'prefix';

  constructor(give: (piece: Buffer) => void) {
    this.give = give;
  }

  /** Whether the stream may end here, between two messages. */
  get atBoundary(): boolean {
    return this.state === 'prefix' && this.head.length === 0;
  }

  /** @throws GrpcFrameError for an invalid message; the stream is unusable then. */
  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.state === 'payload') at += this.takePayload(bytes, at);
      else {
        this.head.push(bytes[at] ?? 0);
        at += 1;
        if (this.state === 'prefix') this.prefixByte();
        else this.fieldByte();
      }
    }
  }

  private takePayload(bytes: Buffer, at: number): number {
    const size = Math.min(this.payloadLeft, bytes.length - at);
    this.give(bytes.subarray(at, at + size));
    this.payloadLeft -= size;
    this.messageLeft -= size;
    if (this.payloadLeft === 0) this.next();
    return size;
  }

  private prefixByte(): void {
    if (this.head.length < PREFIX_BYTES) return;
    const prefix = Buffer.from(this.head.splice(0));
    if (prefix[0] !== 0) throw new GrpcFrameError('a message is compressed');
    this.messageLeft = prefix.readUInt32BE(1);
    this.next();
  }

  private fieldByte(): void {
    this.messageLeft -= 1;
    const [field, ...varint] = this.head;
    if (field !== FIELD_BYTES) throw new GrpcFrameError(`a message has the field ${field}`);
    const last = varint.at(-1);
    if (last === undefined || last >= 128) {
      if (varint.length >= MAX_VARINT_BYTES || this.messageLeft === 0) throw new GrpcFrameError('a length is cut off');
      return;
    }
    this.payloadLeft = varint.reduce((sum, byte, index) => sum + (byte & 127) * 128 ** index, 0);
    if (this.payloadLeft > this.messageLeft) throw new GrpcFrameError('a payload is longer than its message');
    this.head.length = 0;
    this.state = 'payload';
    if (this.payloadLeft === 0) this.next();
  }

  /** A message may have several fields (`multiMode`) or none. */
  private next(): void {
    this.state = this.messageLeft > 0 ? 'field' : 'prefix';
  }
}
