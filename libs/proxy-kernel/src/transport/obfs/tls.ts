import type { ByteStream } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { LayeredStream } from '../layered-stream.js';
import { clientHello } from './client-hello.js';

const MAX_TICKET = 8192;
const MAX_RECORD = 16_384;
const HEADER_BYTES = 5;
const RECORD = { changeCipherSpec: 20, handshake: 22, application: 23 } as const;

/** simple-obfs, mode tls: bytes in TLS records that nothing seals. The first ones are in the ClientHello. */
export class TlsObfsStream extends LayeredStream {
  private readonly host: string;
  private greeted = false;
  /** The server's hello comes first; behind it every record but one is data. */
  private answered = false;
  private readonly header = Buffer.alloc(HEADER_BYTES);
  private headerFilled = 0;
  /** Bytes of the record that are still to come. */
  private left = 0;
  private skipping = false;

  constructor(inner: ByteStream, host: string) {
    super(inner);
    this.host = host;
  }

  protected override encode(chunk: Uint8Array): void {
    let at = 0;
    if (!this.greeted) {
      this.greeted = true;
      at = Math.min(chunk.length, MAX_TICKET);
      this.put(clientHello(this.host, chunk.subarray(0, at)));
    }
    for (; at < chunk.length; at += MAX_RECORD) {
      const { length } = chunk.subarray(at, at + MAX_RECORD);
      this.put(Buffer.from([RECORD.application, 3, 3, length >> 8, length & 255]));
      this.put(chunk.subarray(at, at + MAX_RECORD));
    }
  }

  protected override decode(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at += this.left > 0 ? this.takeContent(bytes, at) : this.takeHeader(bytes, at);
  }

  protected override checkEnd(): Error | null {
    if (this.left === 0 && this.headerFilled === 0) return null;
    return new DialError('relay', 'protocol_error', 'the stream ended inside a record');
  }

  private takeContent(bytes: Buffer, at: number): number {
    const size = Math.min(this.left, bytes.length - at);
    this.left -= size;
    if (!this.skipping) this.give(bytes.subarray(at, at + size));
    return size;
  }

  private takeHeader(bytes: Buffer, at: number): number {
    const size = Math.min(HEADER_BYTES - this.headerFilled, bytes.length - at);
    bytes.copy(this.header, this.headerFilled, at, at + size);
    this.headerFilled += size;
    if (this.headerFilled === HEADER_BYTES) this.recordStarts();
    return size;
  }

  private recordStarts(): void {
    const type = this.header[0];
    const expected = this.answered
      ? Object.values<number | undefined>(RECORD).includes(type)
      : type === RECORD.handshake;
    if (!expected)
      throw new DialError('handshake', 'protocol_error', 'the server answered with something else than TLS');
    this.skipping = !this.answered || type === RECORD.changeCipherSpec;
    this.answered = true;
    this.left = this.header.readUInt16BE(3);
    this.headerFilled = 0;
  }
}
