import { setFlowTimeout, StreamEmitter, type ByteStream } from '@gatehouse/net';
import type { AnyTlsSession, AttachedStream } from './session.js';

/** A stream cannot end one direction: after our end it is closed when nothing has come for this time. */
const QUIET_BEFORE_CLOSE_MS = 30_000;

/** A stream of a session, which it releases when it ends. */
export class AnyTlsStream extends StreamEmitter implements ByteStream, AttachedStream {
  private session: AnyTlsSession | null;
  private readonly remote: Pick<ByteStream, 'remoteAddress' | 'remotePort'>;
  private readonly waiting: Buffer[] = [];
  private paused = true;
  private sourceEnded = false;
  private endEmitted = false;
  private writingEnded = false;
  private closed = false;
  private lastDataAt = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(session: AnyTlsSession) {
    super();
    this.session = session;
    this.remote = session.stream;
    session.attach(this);
  }

  get destroyed(): boolean {
    return this.closed;
  }

  get readableEnded(): boolean {
    return this.endEmitted;
  }

  get writableLength(): number {
    return this.session?.writableLength ?? 0;
  }

  get remoteAddress(): string | undefined {
    return this.remote.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.remote.remotePort;
  }

  /** Nothing can be sent after the server's end. */
  write(chunk: Uint8Array): boolean {
    return this.session?.write(chunk) ?? true;
  }

  end(): void {
    if (this.writingEnded) return;
    this.writingEnded = true;
    if (this.sourceEnded) this.finish();
    else this.closeWhenQuiet(QUIET_BEFORE_CLOSE_MS);
  }

  pause(): void {
    this.paused = true;
    this.session?.stream.pause();
  }

  resume(): void {
    this.paused = false;
    while (!this.paused && this.waiting.length > 0) {
      const piece = this.waiting.shift();
      if (piece) this.emit('data', piece);
    }
    if (this.paused) return;
    if (this.sourceEnded) this.emitEnd();
    else this.session?.stream.resume();
  }

  unshift(chunk: Uint8Array): void {
    this.waiting.unshift(Buffer.from(chunk));
  }

  /** Ignored: frames are sent whole anyway, and a cork could outlive this stream and block the next one. */
  cork(): void {}

  uncork(): void {}

  destroy(error?: Error): void {
    if (error) this.emitError(error);
    this.finish();
  }

  data(piece: Buffer): void {
    this.lastDataAt = performance.now();
    if (this.paused || this.waiting.length > 0) this.waiting.push(piece);
    else this.emit('data', piece);
  }

  finished(): void {
    this.sourceEnded = true;
    this.giveBack();
    if (!this.paused && this.waiting.length === 0) this.emitEnd();
    if (this.writingEnded) this.finish();
  }

  drained(): void {
    this.emit('drain');
  }

  failed(error: Error): void {
    this.session = null;
    // After the server's end errors no longer matter.
    if (!this.sourceEnded) this.emitError(error);
    this.finish();
  }

  private emitError(error: Error): void {
    // Without a listener an `error` event would end the process; `close` follows in any case.
    if (!this.closed && this.listenerCount('error') > 0) this.emit('error', error);
  }

  private emitEnd(): void {
    if (this.endEmitted || this.waiting.length > 0) return;
    this.endEmitted = true;
    this.emit('end');
  }

  private giveBack(): void {
    const { session } = this;
    this.session = null;
    session?.detach();
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    this.giveBack();
    process.nextTick(() => this.emit('close'));
  }

  private closeWhenQuiet(ms: number): void {
    this.timer = setFlowTimeout(
      this,
      () => {
        const left = this.lastDataAt + QUIET_BEFORE_CLOSE_MS - performance.now();
        if (left > 0) this.closeWhenQuiet(left);
        else this.finish();
      },
      ms,
    );
    this.timer.unref();
  }
}
