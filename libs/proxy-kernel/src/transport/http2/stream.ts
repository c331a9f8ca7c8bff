import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { ByteStream } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { EncodedStream } from '../encoded-stream.js';
import { NO_ERROR, type PooledStream } from './session-pool.js';

/** The two bodies of an HTTP/2 request as a byte stream. */
export class Http2Stream extends EncodedStream {
  protected readonly request: ClientHttp2Stream;
  private readonly below: ByteStream;
  private readonly reset: () => void;
  private resetByUs = false;

  constructor({ stream, below, reset }: PooledStream) {
    super(stream);
    this.request = stream;
    this.below = below;
    this.reset = reset;
    stream.pause();
  }

  override get remoteAddress(): string | undefined {
    return this.below.remoteAddress;
  }

  override get remotePort(): number | undefined {
    return this.below.remotePort;
  }

  override destroy(error?: Error): void {
    if (error) this.fail(error);
    this.resetByUs = true;
    if (!this.request.destroyed) this.reset();
    super.destroy();
  }

  override resetAndDestroy(): void {
    this.destroy();
  }

  protected override fail(error: Error): void {
    if (this.resetByUs) return;
    if (error instanceof DialError) return super.fail(error);
    super.fail(new DialError('relay', 'connection_reset', error.message, { cause: error }));
  }

  protected override encode(chunk: Uint8Array): void {
    this.put(chunk);
  }

  protected override decode(bytes: Buffer): void {
    this.give(bytes);
  }

  protected override checkEnd(): Error | null {
    // After a reset the readable side ends as after the last byte.
    const { rstCode, aborted } = this.request;
    if (aborted || (rstCode !== undefined && rstCode !== NO_ERROR)) {
      return new DialError('relay', 'connection_reset', `the server reset the stream (${rstCode})`);
    }
    return null;
  }
}

/** @throws DialError for a status that is not 200. */
export function checkStatus(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
  const status = headers[':status'];
  if (status === 200) return;
  const kind = status === 401 || status === 403 ? 'auth_failed' : 'protocol_error';
  throw new DialError('handshake', kind, `the server answered ${status}`);
}
