import type { ByteStream } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { EncodedStream } from '../encoded-stream.js';
import { randomBytes } from 'node:crypto';

const MAX_TICKET = 8192;
const MAX_RECORD = 16_384;
const HEADER_BYTES = 5;
const RECORD = { changeCipherSpec: 20, handshake: 22, application: 23 } as const;

/** simple-obfs, mode tls: unencrypted bytes in TLS records. The first bytes are in the ClientHello. */
export class TlsObfsStream extends EncodedStream {
  private readonly host: string;
  private greeted = false;
  /** The server's hello comes first; all later records except one are data. */
  private answered = false;
  private readonly header = Buffer.alloc(HEADER_BYTES);
  private headerFilled = 0;
  /** Bytes of the record that have not arrived yet. */
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
    if (!expected) throw new DialError('handshake', 'protocol_error', 'the server did not answer with TLS');
    this.skipping = !this.answered || type === RECORD.changeCipherSpec;
    this.answered = true;
    this.left = this.header.readUInt16BE(3);
    this.headerFilled = 0;
  }
}

const CIPHER_SUITES = Buffer.from(
  'c02cc030009fcca9cca8ccaac02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c0035002f00ff',
  'hex',
);
/** Point formats, groups, signature algorithms, encrypt-then-MAC, extended master secret. */
const OTHER_EXTENSIONS = Buffer.from(
  '000b000403000102000a000a0008001d001700190018000d0020001e060106020603050105020503040104020403030103020303020102020203' +
    '0016000000170000',
  'hex',
);
const EXTENSION = { serverName: 0, sessionTicket: 0x23 } as const;

/** The ClientHello of simple-obfs: it looks like TLS 1.2 and carries the first bytes as its session ticket, at most 8 KiB. */
export function clientHello(host: string, ticket: Uint8Array): Buffer {
  const name = Buffer.from(host);
  const entry = Buffer.concat([Buffer.from([0]), sized(2, name)]);
  const extensions = Buffer.concat([
    extension(EXTENSION.sessionTicket, ticket),
    extension(EXTENSION.serverName, sized(2, entry)),
    OTHER_EXTENSIONS,
  ]);
  const now = Buffer.alloc(4);
  now.writeUInt32BE(Math.floor(Date.now() / 1000));
  const version = Buffer.from([3, 3]);
  const body = [version, now, randomBytes(28), sized(1, randomBytes(32)), sized(2, CIPHER_SUITES), Buffer.from([1, 0])];
  const hello = Buffer.concat([Buffer.from([1]), sized(3, Buffer.concat([...body, sized(2, extensions)]))]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, hello)]);
}

function extension(type: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), sized(2, content)]);
}

/** The content with its length before it, in `bytes` bytes. */
function sized(bytes: number, content: Uint8Array): Buffer {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(content.length, 0, bytes);
  return Buffer.concat([length, content]);
}
