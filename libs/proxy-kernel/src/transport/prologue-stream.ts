import { resetStream, setFlowTimeout, type ByteStream, type ByteStreamEvents } from '@gatehouse/net';
import { DialError } from '../interfaces/index.js';

/** How long to wait for the first payload, so that it can be sent in one segment with the head. */
const FIRST_PAYLOAD_MS = 10;
const MAX_ANSWER_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/** The bytes before the first payload, or a function that makes them for that payload. */
type Head = Uint8Array | ((first: Uint8Array) => Uint8Array);

/**
 * The length of the answer before the payload; 0: more bytes are needed.
 * @throws DialError for an invalid answer.
 */
export type AnswerMeasure = (bytes: Buffer) => number;

/**
 * A stream that sends a head before its first payload and may skip an answer. After that it is the stream below itself,
 * without any cost per chunk.
 */
export class PrologueStream implements ByteStream {
  private readonly inner: ByteStream;
  private head: Head | null;
  private readonly timer: NodeJS.Timeout;
  private measure: AnswerMeasure | null;
  private answer: Buffer = Buffer.alloc(0);
  /** Listeners for `data` until the answer has come. */
  private readonly dataListeners: ByteStreamEvents['data'][] = [];

  constructor(inner: ByteStream, head: Head, measure?: AnswerMeasure) {
    this.inner = inner;
    this.head = head;
    this.measure = measure ?? null;
    this.timer = setFlowTimeout(inner, () => this.sendHead(), FIRST_PAYLOAD_MS);
    if (measure) inner.on('data', this.onAnswer);
    inner.on('error', () => undefined);
    inner.once('close', () => clearTimeout(this.timer));
  }

  get destroyed(): boolean {
    return this.inner.destroyed;
  }

  get readableEnded(): boolean {
    return this.inner.readableEnded;
  }

  get writableLength(): number {
    return this.inner.writableLength;
  }

  get remoteAddress(): string | undefined {
    return this.inner.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.inner.remotePort;
  }

  write(chunk: Uint8Array): boolean {
    if (this.head === null) return this.inner.write(chunk);
    return this.inner.write(Buffer.concat([this.takeHead(chunk), chunk]));
  }

  end(): void {
    this.sendHead();
    this.inner.end();
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }

  unshift(chunk: Uint8Array): void {
    this.inner.unshift(chunk);
  }

  cork(): void {
    this.inner.cork();
  }

  uncork(): void {
    this.inner.uncork();
  }

  release(): void {
    this.inner.release?.();
  }

  destroy(error?: Error): void {
    this.inner.destroy(error);
  }

  resetAndDestroy(): void {
    resetStream(this.inner);
  }

  on<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this {
    if (event === 'data' && this.measure) this.dataListeners.push(listener as ByteStreamEvents['data']);
    else this.inner.on(event, listener);
    return this;
  }

  once<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this {
    this.inner.once(event, listener);
    return this;
  }

  off<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this {
    const at = this.dataListeners.indexOf(listener as ByteStreamEvents['data']);
    if (event === 'data' && at >= 0) this.dataListeners.splice(at, 1);
    else this.inner.off(event, listener);
    return this;
  }

  private sendHead(): void {
    if (this.head !== null && !this.inner.destroyed) this.inner.write(this.takeHead(NOTHING));
  }

  private takeHead(first: Uint8Array): Uint8Array {
    const head = this.head ?? NOTHING;
    this.head = null;
    clearTimeout(this.timer);
    return typeof head === 'function' ? head(first) : head;
  }

  private readonly onAnswer = (bytes: Buffer): void => {
    if (!this.measure) return;
    this.answer = Buffer.concat([this.answer, bytes]);
    let length: number;
    try {
      length = this.measure(this.answer);
      if (length === 0 && this.answer.length > MAX_ANSWER_BYTES) throw tooLong();
    } catch (error) {
      this.measure = null;
      this.inner.off('data', this.onAnswer);
      this.inner.destroy(error instanceof Error ? error : undefined);
      return;
    }
    if (length > 0) this.passOn(this.answer.subarray(length));
  };

  /** From now on the listeners get events directly from the stream below. */
  private passOn(rest: Buffer): void {
    this.measure = null;
    this.answer = Buffer.alloc(0);
    this.inner.off('data', this.onAnswer);
    const listeners = this.dataListeners.splice(0);
    for (const listener of listeners) this.inner.on('data', listener);
    if (rest.length > 0) for (const listener of listeners) listener(rest);
  }
}

function tooLong(): DialError {
  return new DialError('handshake', 'protocol_error', 'the server did not send a valid answer');
}
