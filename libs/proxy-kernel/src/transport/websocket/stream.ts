import {
  maskedWebSocketFrame,
  setFlowTimeout,
  WEBSOCKET_OPCODE,
  WebSocketFrameReader,
  type ByteStream,
} from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { AnswerCollector } from '../http-upgrade.js';
import { EncodedStream } from '../encoded-stream.js';
import type { WebSocketOpening } from './opening.js';

/** A WebSocket cannot end one direction. It is closed when writing has ended and nothing was received for this long. */
const QUIET_BEFORE_CLOSE_MS = 30_000;
/** How long the other end has to close after our close frame. */
const LINGER_MS = 2000;
/** Pings are not answered while more than this waits to be sent. */
const MAX_BACKLOG_BYTES = 1024 * 1024;
const NORMAL_CLOSURE = Buffer.from([1000 >> 8, 1000 & 255]);

/**
 * The messages of a WebSocket as a byte stream. With an `opening` the handshake is sent at the first write, with early data
 * in it; the rest waits for the answer.
 */
export class WebSocketStream extends EncodedStream {
  private readonly frames: WebSocketFrameReader;
  private opening: { handshake: WebSocketOpening; sent: boolean; answer: AnswerCollector } | null = null;
  private unsent: Buffer[] = [];
  private unsentBytes = 0;
  private closeSent = false;
  private lastDataAt = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(inner: ByteStream, opening?: WebSocketOpening) {
    super(inner);
    this.frames = new WebSocketFrameReader(
      { masked: false, text: true },
      {
        data: (part) => {
          this.lastDataAt = performance.now();
          this.give(part);
        },
        control: (opcode, payload) => this.control(opcode, payload),
      },
    );
    if (opening) this.opening = { handshake: opening, sent: false, answer: new AnswerCollector() };
  }

  override get writableLength(): number {
    return this.unsentBytes + this.inner.writableLength;
  }

  protected override get halfCloses(): boolean {
    return false;
  }

  protected override encode(chunk: Uint8Array): void {
    if (this.opening) this.encodeEarly(this.opening, chunk);
    else if (!this.closeSent && chunk.length > 0) this.put(maskedWebSocketFrame(WEBSOCKET_OPCODE.binary, [chunk]));
  }

  protected override decode(bytes: Buffer): void {
    if (!this.opening) return this.frames.read(bytes);
    const complete = this.opening.answer.push(bytes);
    if (!complete) return;
    this.opening.handshake.check(complete.answer);
    this.opened();
    this.frames.read(complete.rest);
  }

  protected override checkEnd(): Error | null {
    if (this.opening) return new DialError('handshake', 'connection_reset', 'the server closed before it answered');
    return this.frames.atBoundary ? null : new DialError('relay', 'protocol_error', 'the stream ended inside a frame');
  }

  protected override endWriting(): void {
    if (this.readingEnded) this.finish();
    else this.closeWhenQuiet(QUIET_BEFORE_CLOSE_MS);
  }

  protected override cleanUp(): void {
    if (this.timer) clearTimeout(this.timer);
  }

  private encodeEarly(opening: NonNullable<WebSocketStream['opening']>, chunk: Uint8Array): void {
    let rest = chunk;
    if (!opening.sent) {
      opening.sent = true;
      const request = opening.handshake.format(chunk);
      this.put(request.head);
      rest = request.rest;
    }
    if (rest.length === 0) return;
    this.unsent.push(Buffer.from(rest));
    this.unsentBytes += rest.length;
    this.full();
  }

  private opened(): void {
    this.opening = null;
    const { unsent } = this;
    this.unsent = [];
    this.unsentBytes = 0;
    if (unsent.length === 0) return;
    const room = this.inner.write(maskedWebSocketFrame(WEBSOCKET_OPCODE.binary, unsent));
    // A writer that had to wait may continue, unless the stream below is full and will emit `drain` itself.
    if (room || this.inner.writableLength === 0) this.emit('drain');
  }

  private control(opcode: number, payload: Buffer): void {
    if (opcode === WEBSOCKET_OPCODE.ping) {
      if (!this.closeSent && this.inner.writableLength < MAX_BACKLOG_BYTES) {
        this.put(maskedWebSocketFrame(WEBSOCKET_OPCODE.pong, [payload]));
      }
    } else if (opcode === WEBSOCKET_OPCODE.close) {
      this.sendClose(payload.subarray(0, 2));
      this.endReading();
      if (this.writingIsEnded) this.finish();
    }
  }

  private sendClose(code: Buffer): void {
    if (this.closeSent || this.inner.destroyed) return;
    this.closeSent = true;
    this.put(maskedWebSocketFrame(WEBSOCKET_OPCODE.close, [code]));
  }

  private closeWhenQuiet(ms: number): void {
    this.timer = setFlowTimeout(
      this,
      () => {
        const left = this.lastDataAt + QUIET_BEFORE_CLOSE_MS - performance.now();
        if (left > 0) return this.closeWhenQuiet(left);
        this.sendClose(NORMAL_CLOSURE);
        this.lingerThenDestroy();
      },
      ms,
    );
    this.timer.unref();
  }

  private finish(): void {
    this.sendClose(NORMAL_CLOSURE);
    this.inner.end();
    this.lingerThenDestroy();
  }

  private lingerThenDestroy(): void {
    this.cleanUp();
    this.timer = setFlowTimeout(null, () => this.inner.destroy(), LINGER_MS);
    this.timer.unref();
  }
}
