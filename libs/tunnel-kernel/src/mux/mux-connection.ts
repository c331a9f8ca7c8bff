import { guarded, setFlowInterval } from '@gatehouse/net';
import { protocolError, TunnelError } from '../errors.js';
import { MAX_MUX_FRAME_BYTES, MUX_FRAME, MuxFrameReader, muxHeader, muxNumber } from './mux-frames.js';
import { MuxStream, type MuxStreamOwner } from './mux-stream.js';
import type { MuxTransport } from './mux-transport.js';
import { FIRST_WINDOW_BYTES, WindowBudget } from './windows.js';

/** Upper bound for streams of one connection. */
const MAX_STREAMS = 8192;
/** Approximate size of one write to the transport. */
const BATCH_BYTES = 256 * 1024;
/** Control frames that may queue up for a peer that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
const PING_EVERY_MS = 1000;
/** Pings without a byte from the other side. */
const MAX_UNANSWERED = 3;

export interface MuxOptions {
  /** Called for a stream that the other side opened. Absent: it may open none. */
  onStream?: (stream: MuxStream) => void;
  /** Called once, after all streams have ended. */
  onClose?: (error: TunnelError) => void;
  /** Called when the last stream has ended. */
  onEmpty?: () => void;
  /**
   * Interval of pings in milliseconds. They keep middleboxes from closing an idle connection, and detect a dead one
   * after three times as long. Absent: no pings.
   */
  keepAliveMs?: number;
}

/**
 * Many streams over one transport. Streams take turns frame by frame, so that none waits for another's bytes, and each
 * has its own window, so that none waits for another's reader.
 */
export class MuxConnection implements MuxStreamOwner {
  private readonly transport: MuxTransport;
  private readonly options: MuxOptions;
  private readonly streams = new Map<number, MuxStream>();
  /** Streams with something to send, in the order of their turns. */
  private readonly ready = new Set<MuxStream>();
  private readonly waiting = new Set<MuxStream>();
  private readonly budget = new WindowBudget();
  private readonly reader: MuxFrameReader;
  private words: Buffer[] = [];
  private lastId = 0;
  /** Whether the transport accepts more. */
  room = true;
  private scheduled = false;
  private closeWhenEmpty = false;
  private failure: TunnelError | null = null;
  private pings = 0;
  private pingedAt: number | null = null;
  private measuredAt = -PING_EVERY_MS;
  private readonly keepAlive: NodeJS.Timeout | undefined;
  private unanswered = 0;

  constructor(transport: MuxTransport, options: MuxOptions) {
    this.transport = transport;
    this.options = options;
    this.reader = new MuxFrameReader({
      dataBegins: (id, length) => this.known(id)?.announced(length),
      data: (id, part) => this.streams.get(id)?.received(part),
      frame: (type, id, value) => this.receive(type, id, value),
    });
    if (options.keepAliveMs) this.keepAlive = setFlowInterval(this, () => this.ask(), options.keepAliveMs);
    transport.start({
      data: (part) => this.read(part),
      drain: () => this.drained(),
      closed: (error) => this.closed(error),
    });
  }

  get size(): number {
    return this.streams.size;
  }

  get isClosed(): boolean {
    return this.failure !== null;
  }

  get remoteAddress(): string | undefined {
    return this.transport.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.transport.remotePort;
  }

  get unsent(): number {
    return this.transport.writableLength;
  }

  /** Round trip in milliseconds; null before it was measured. */
  get roundTripMs(): number | null {
    return this.budget.roundTripMs;
  }

  /** @throws TunnelError that closed the connection, or `overloaded`. */
  open(): MuxStream {
    if (this.failure) throw this.failure;
    if (this.streams.size >= MAX_STREAMS) throw new TunnelError('overloaded', 'too many streams of one connection');
    this.lastId += 1;
    const stream = new MuxStream(this.lastId, this);
    this.streams.set(stream.id, stream);
    this.say(muxHeader(MUX_FRAME.open, 0, stream.id));
    stream.widen();
    return stream;
  }

  /** No more streams will be opened. */
  release(): void {
    this.closeWhenEmpty = true;
    if (this.streams.size === 0) this.transport.close();
  }

  destroy(): void {
    this.transport.destroy();
  }

  offer(stream: MuxStream): void {
    if (!stream.sendable || this.failure) return;
    this.ready.add(stream);
    if (this.room) this.pump();
  }

  wantsDrain(stream: MuxStream): void {
    this.waiting.add(stream);
  }

  widen(stream: MuxStream): number {
    const window = this.budget.first(this.streams.size);
    this.grant(stream, window - FIRST_WINDOW_BYTES);
    return window;
  }

  consumed(stream: MuxStream, bytes: number, window: number, elapsedMs: number): number {
    this.measure();
    const next = this.budget.grown(window, elapsedMs);
    this.grant(stream, bytes + next - window);
    return next;
  }

  gone(stream: MuxStream, window: number, reset: boolean): void {
    this.streams.delete(stream.id);
    this.ready.delete(stream);
    this.waiting.delete(stream);
    this.budget.release(window);
    if (reset) this.say(muxHeader(MUX_FRAME.reset, 0, stream.id));
    if (this.streams.size > 0 || this.failure) return;
    this.options.onEmpty?.();
    if (this.closeWhenEmpty) setImmediate(guarded(this, () => this.transport.close()));
  }

  private grant(stream: MuxStream, bytes: number): void {
    if (bytes > 0) this.say(muxNumber(MUX_FRAME.window, stream.id, bytes));
  }

  private ask(): void {
    this.unanswered += 1;
    if (this.unanswered <= MAX_UNANSWERED) return this.say(muxNumber(MUX_FRAME.ping, 0, this.pings));
    this.closed(new TunnelError('silent', 'nothing was received from the other side'));
    this.transport.destroy();
  }

  private read(part: Buffer): void {
    if (this.failure) return;
    this.unanswered = 0;
    try {
      this.reader.read(part);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.closed(error);
      this.transport.destroy();
    }
  }

  private receive(type: number, id: number, value: number): void {
    if (type === MUX_FRAME.open) this.opened(id);
    else if (type === MUX_FRAME.ping) this.say(muxNumber(MUX_FRAME.pong, 0, value));
    else if (type === MUX_FRAME.pong) this.answered(value);
    else if (type === MUX_FRAME.window) this.known(id)?.granted(value);
    else if (type === MUX_FRAME.end) this.known(id)?.ended();
    else this.known(id)?.aborted(resetError());
  }

  private opened(id: number): void {
    const { onStream } = this.options;
    if (!onStream || id <= this.lastId) throw protocolError(`stream ${id} may not be opened`);
    this.lastId = id;
    if (this.streams.size >= MAX_STREAMS) return this.say(muxHeader(MUX_FRAME.reset, 0, id));
    const stream = new MuxStream(id, this);
    this.streams.set(id, stream);
    onStream(stream);
  }

  /**
   * Undefined for a stream that has ended: its frames may have crossed. @throws TunnelError for an id that was never
   * used.
   */
  private known(id: number): MuxStream | undefined {
    if (id > this.lastId) throw protocolError(`stream ${id} was never opened`);
    return this.streams.get(id);
  }

  private say(words: Buffer): void {
    if (this.failure) return;
    if (this.transport.writableLength > MAX_UNSENT_BYTES) {
      // Deferred, because a stream may be in the middle of an operation.
      setImmediate(guarded(this, () => this.transport.destroy()));
      return;
    }
    this.words.push(words);
    this.schedule();
  }

  /** Once per turn of the event loop. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    process.nextTick(() => {
      this.scheduled = false;
      this.pump();
    });
  }

  private drained(): void {
    this.room = true;
    this.pump();
  }

  private pump(): void {
    while (!this.failure && (this.words.length > 0 || (this.room && this.ready.size > 0))) {
      const parts: Uint8Array[] = this.words;
      this.words = [];
      if (this.room) this.takeTurns(parts);
      if (parts.length > 0) this.room = this.transport.send(parts);
    }
    if (this.room && this.waiting.size > 0) this.notifyDrained();
  }

  /** Sends one frame of each ready stream, round after round. */
  private takeTurns(parts: Uint8Array[]): void {
    let bytes = 0;
    for (const stream of this.ready) {
      if (bytes >= BATCH_BYTES) return;
      this.ready.delete(stream);
      const part = stream.takeBytes(MAX_MUX_FRAME_BYTES);
      if (part) {
        parts.push(muxHeader(MUX_FRAME.data, part.length, stream.id), part);
        bytes += part.length;
      }
      if (stream.takeEnd()) parts.push(muxHeader(MUX_FRAME.end, 0, stream.id));
      // Moves the stream to the end of the queue, where this loop reaches it again.
      if (stream.sendable) this.ready.add(stream);
    }
  }

  private notifyDrained(): void {
    const drained = Array.from(this.waiting).filter((stream) => stream.isEmpty);
    for (const stream of drained) {
      this.waiting.delete(stream);
      stream.emit('drain');
    }
  }

  private measure(): void {
    const now = performance.now();
    if (this.pingedAt !== null || now - this.measuredAt < PING_EVERY_MS) return;
    this.pingedAt = now;
    this.pings = (this.pings + 1) >>> 0;
    this.say(muxNumber(MUX_FRAME.ping, 0, this.pings));
  }

  private answered(value: number): void {
    if (this.pingedAt === null || value !== this.pings) return;
    this.measuredAt = performance.now();
    this.budget.roundTripMs = this.measuredAt - this.pingedAt;
    this.pingedAt = null;
  }

  private closed(error: TunnelError): void {
    if (this.failure) return;
    this.failure = error;
    clearInterval(this.keepAlive);
    for (const stream of this.streams.values()) stream.aborted(error);
    this.options.onClose?.(error);
  }
}

function resetError(): Error {
  return Object.assign(new Error('the other side reset the stream'), { code: 'ECONNRESET' });
}
