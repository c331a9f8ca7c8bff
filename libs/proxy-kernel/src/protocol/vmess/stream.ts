import type { ByteStream } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { EncodedStream } from '../../transport/encoded-stream.js';
import { VmessError } from './header.js';
import type { VmessSession } from './session.js';

/** The chunks of a VMess body as a byte stream. An empty chunk ends a direction, independently of the connection. */
export class VmessStream extends EncodedStream {
  private readonly session: VmessSession;
  private opened: Buffer[] = [];

  /** @param carrier sends the session's head and skips its answer. */
  constructor(carrier: ByteStream, session: VmessSession) {
    super(carrier);
    this.session = session;
  }

  /** After the server's end mark it does not matter how its connection ends. */
  protected override get halfCloses(): boolean {
    return false;
  }

  protected override encode(chunk: Uint8Array): void {
    this.session.sealer.seal(chunk, (piece) => this.put(piece));
  }

  protected override decode(bytes: Buffer): void {
    try {
      this.session.opener.push(bytes, (pieces) => this.opened.push(...pieces));
    } catch (error) {
      throw toDialError(error);
    } finally {
      // A server's chunks are short: passed on one by one, each would cause a write.
      const { opened } = this;
      this.opened = [];
      const [first] = opened;
      if (first) this.give(opened.length === 1 ? first : Buffer.concat(opened));
    }
    if (this.session.opener.done) this.endReading();
  }

  protected override endReading(): void {
    super.endReading();
    if (this.writingIsEnded) this.inner.end();
  }

  protected override checkEnd(): Error | null {
    if (this.session.opener.atBoundary) return null;
    return new DialError('relay', 'protocol_error', 'the stream ended inside a chunk');
  }

  protected override endWriting(): void {
    this.inner.cork();
    this.session.sealer.sealChunk(Buffer.alloc(0), (piece) => this.put(piece));
    this.inner.uncork();
    if (this.readingEnded) this.inner.end();
  }
}

export function toDialError(error: unknown): unknown {
  if (!(error instanceof VmessError)) return error;
  return new DialError('handshake', 'auth_failed', error.message, { cause: error });
}
