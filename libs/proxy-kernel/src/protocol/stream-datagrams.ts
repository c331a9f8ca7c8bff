import { resetStream, type ByteStream } from '@gatehouse/net';

/** Unsent bytes of a stream; beyond this datagrams are dropped, as with a full socket buffer. */
const MAX_BACKLOG_BYTES = 512 * 1024;

/** How datagrams are framed in a byte stream. */
export interface DatagramFraming<T> {
  /** Null: the protocol cannot carry it. */
  encode(item: T): Buffer | null;
  /** The frame at the beginning of `bytes`; null: more bytes are needed. @throws for an invalid frame. */
  decode(bytes: Buffer): { item: T; end: number } | null;
  /** The longest frame. */
  maxBytes: number;
}

/** Datagrams in a byte stream. An invalid frame ends the stream. */
export class StreamDatagrams<T> {
  private readonly stream: ByteStream;
  private readonly framing: DatagramFraming<T>;
  private buffered: Buffer = Buffer.alloc(0);
  private readonly messageListeners: ((item: T) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  constructor(stream: ByteStream, framing: DatagramFraming<T>) {
    this.stream = stream;
    this.framing = framing;
    stream.on('data', (bytes) => this.received(bytes));
    stream.on('end', () => this.end());
    stream.on('error', (error) => this.end(error));
    stream.on('close', () => this.end());
    stream.resume();
  }

  send(item: T): void {
    if (this.closed || this.stream.writableLength > MAX_BACKLOG_BYTES) return;
    const frame = this.framing.encode(item);
    if (frame) this.stream.write(frame);
  }

  onMessage(listener: (item: T) => void): void {
    this.messageListeners.push(listener);
  }

  onClose(listener: (error?: Error) => void): void {
    this.closeListeners.push(listener);
  }

  close(): void {
    this.end();
  }

  private received(bytes: Buffer): void {
    if (this.closed) return;
    this.buffered = this.buffered.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.buffered, bytes]);
    try {
      for (let frame = this.next(); frame && !this.closed; frame = this.next()) {
        for (const listener of this.messageListeners) listener(frame.item);
      }
      if (this.buffered.length > this.framing.maxBytes) throw new Error('a datagram is too long');
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private next(): { item: T; end: number } | null {
    const frame = this.framing.decode(this.buffered);
    if (frame) this.buffered = this.buffered.subarray(frame.end);
    return frame;
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    resetStream(this.stream);
    for (const listener of this.closeListeners) listener(error);
  }
}
