/** Frames of AnyTLS: `command(1) ‖ stream(4) ‖ length(2) ‖ content`. Pure: bytes in, frames out. */

export const COMMAND = {
  waste: 0,
  open: 1,
  push: 2,
  finish: 3,
  settings: 4,
  alert: 5,
  paddingScheme: 6,
  opened: 7,
  heartRequest: 8,
  heartResponse: 9,
  serverSettings: 10,
} as const;
export const HEADER_BYTES = 7;
export const MAX_CONTENT = 0xffff;

export function frameHeader(command: number, stream: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header[0] = command;
  header.writeUInt32BE(stream, 1);
  header.writeUInt16BE(length, 5);
  return header;
}

export function frame(command: number, stream: number, content: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([frameHeader(command, stream, content.length), content]);
}

export interface FrameSink {
  /** A piece of a stream's data. */
  data(stream: number, piece: Buffer): void;
  /** A complete frame of any other command. */
  command(command: number, stream: number, content: Buffer): void;
}

/** Decodes frames that may be cut anywhere. Data passes through; only commands are buffered. */
export class FrameDecoder {
  private readonly sink: FrameSink;
  private readonly header = Buffer.alloc(HEADER_BYTES);
  private filled = 0;
  private left = 0;
  private held: Buffer[] = [];

  constructor(sink: FrameSink) {
    this.sink = sink;
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at += this.left > 0 ? this.takeContent(bytes, at) : this.takeHeader(bytes, at);
  }

  private takeHeader(bytes: Buffer, at: number): number {
    const size = Math.min(HEADER_BYTES - this.filled, bytes.length - at);
    bytes.copy(this.header, this.filled, at, at + size);
    this.filled += size;
    if (this.filled < HEADER_BYTES) return size;
    this.filled = 0;
    this.left = this.header.readUInt16BE(5);
    if (this.left === 0) this.ends();
    return size;
  }

  private takeContent(bytes: Buffer, at: number): number {
    const size = Math.min(this.left, bytes.length - at);
    const piece = bytes.subarray(at, at + size);
    this.left -= size;
    const command = this.header[0];
    if (command === COMMAND.push) this.sink.data(this.header.readUInt32BE(1), piece);
    else if (command !== COMMAND.waste) this.held.push(Buffer.from(piece));
    if (this.left === 0) this.ends();
    return size;
  }

  private ends(): void {
    const command = this.header[0] ?? COMMAND.waste;
    const held = this.held.splice(0);
    if (command !== COMMAND.push && command !== COMMAND.waste) {
      this.sink.command(command, this.header.readUInt32BE(1), Buffer.concat(held));
    }
  }
}

/** Parses `key=value` lines. */
export function readSettings(content: Buffer): Map<string, string> {
  const lines = content.toString('utf8').split('\n');
  return new Map(
    lines.map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
  );
}
