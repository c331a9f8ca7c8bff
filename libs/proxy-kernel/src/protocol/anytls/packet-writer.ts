import { createHash } from 'node:crypto';
import type { ByteStream } from '@gatehouse/net';
import { COMMAND, HEADER_BYTES, frame } from './frame.js';
import type { PaddingScheme } from './padding.js';

/** Writes the packets of a session, padding and splitting the first ones according to the scheme. */
export class PacketWriter {
  private readonly stream: ByteStream;
  private readonly scheme: () => PaddingScheme;
  private packet = 0;
  private padding = true;

  /** @param scheme returns the present scheme. */
  constructor(stream: ByteStream, scheme: () => PaddingScheme) {
    this.stream = stream;
    this.scheme = scheme;
  }

  /** `sha256(password) ‖ padding length ‖ padding`. */
  authenticate(password: string): void {
    const first = this.scheme().records(0)[0];
    const length = typeof first === 'number' ? first : 0;
    const key = createHash('sha256').update(password).digest();
    this.stream.write(Buffer.concat([key, Buffer.from([length >> 8, length & 255]), Buffer.alloc(length)]));
  }

  /** Writes complete frames as one packet. False: wait for `drain`. */
  write(pieces: readonly Uint8Array[]): boolean {
    this.packet += 1;
    if (this.padding && this.packet >= this.scheme().stop) this.padding = false;
    if (this.padding) return this.writePadded(Buffer.concat(pieces));
    let room = true;
    this.stream.cork();
    for (const piece of pieces) room = this.stream.write(piece);
    this.stream.uncork();
    return room;
  }

  private writePadded(packet: Buffer): boolean {
    let rest = packet;
    let room = true;
    for (const length of this.scheme().records(this.packet)) {
      if (length === 'check') {
        if (rest.length === 0) break;
        continue;
      }
      room = this.stream.write(this.record(rest, length));
      rest = rest.subarray(Math.min(length, rest.length));
    }
    return rest.length > 0 ? this.stream.write(rest) : room;
  }

  /** As much of `rest` as fits, padded to the length. */
  private record(rest: Buffer, length: number): Buffer {
    if (rest.length > length) return rest.subarray(0, length);
    if (rest.length === 0) return frame(COMMAND.waste, 0, Buffer.alloc(length));
    const missing = length - rest.length - HEADER_BYTES;
    return missing > 0 ? Buffer.concat([rest, frame(COMMAND.waste, 0, Buffer.alloc(missing))]) : rest;
  }
}
