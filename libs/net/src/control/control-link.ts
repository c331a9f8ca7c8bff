import type { Duplex } from 'node:stream';

export interface ControlLinkLimits {
  /** Bytes of one message as JSON; a longer one ends the link. */
  maxMessageBytes: number;
  /** How often a heartbeat is sent, so that silence means that the other side is gone. */
  heartbeatMs: number;
  /** The link ends after this long without a message or heartbeat. */
  silentMs: number;
}

export const DEFAULT_CONTROL_LIMITS: ControlLinkLimits = {
  maxMessageBytes: 128 * 1_048_576,
  heartbeatMs: 5_000,
  silentMs: 20_000,
};

const HEAD_BYTES = 4;
/** How much may wait to be sent, in messages of the largest size. */
const MAX_UNSENT = 2;

/**
 * Messages (JSON) both ways over one authenticated stream: four bytes of length (big endian), then that many bytes of
 * JSON; length 0 is a heartbeat.
 */
export class ControlLink {
  private readonly stream: Duplex;
  private readonly limits: ControlLinkLimits;
  private readonly heartbeat: NodeJS.Timeout;
  private readonly messageListeners: ((message: unknown) => void)[] = [];
  private readonly closeListeners: ((reason: Error | null) => void)[] = [];
  private chunks: Buffer[] = [];
  private buffered = 0;
  private receivedAt = performance.now();
  private reason: Error | null = null;
  private ended = false;

  constructor(stream: Duplex, limits: Partial<ControlLinkLimits> = {}) {
    this.stream = stream;
    this.limits = { ...DEFAULT_CONTROL_LIMITS, ...limits };
    stream.on('error', (error) => this.end(error));
    stream.on('close', () => this.end(null));
    stream.on('end', () => this.end(null));
    stream.on('data', (chunk: Buffer) => this.receive(chunk));
    this.heartbeat = setInterval(() => this.sendHeartbeat(), this.limits.heartbeatMs);
    this.heartbeat.unref();
  }

  get closed(): boolean {
    return this.ended;
  }

  /**
   * Resolves when the system has taken the message; await it for backpressure.
   * @throws Error when the link has ended, or for a message that is too long.
   */
  send(message: unknown): Promise<void> {
    const body = Buffer.from(JSON.stringify(message));
    const { maxMessageBytes } = this.limits;
    if (this.ended) return Promise.reject(new Error('the control channel is closed'));
    if (body.length > maxMessageBytes) {
      return Promise.reject(new Error(`a message of ${body.length} bytes is over the limit of ${maxMessageBytes}`));
    }
    if (this.stream.writableLength > MAX_UNSENT * maxMessageBytes) {
      const error = new Error('the other side of the control channel does not read');
      this.end(error);
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.stream.cork();
      this.stream.write(headOf(body.length));
      this.stream.write(body, (error) => (error ? reject(error) : resolve()));
      this.stream.uncork();
    });
  }

  onMessage(listener: (message: unknown) => void): void {
    this.messageListeners.push(listener);
  }

  /** Called once; immediately if the link has already ended. Null: either side closed it without an error. */
  onClose(listener: (reason: Error | null) => void): void {
    if (this.ended) listener(this.reason);
    else this.closeListeners.push(listener);
  }

  close(): void {
    this.end(null);
  }

  private sendHeartbeat(): void {
    const silence = performance.now() - this.receivedAt;
    if (silence > this.limits.silentMs) this.end(new Error(`the other side was silent for ${Math.round(silence)} ms`));
    // A message that waits to be written serves as a heartbeat.
    else if (this.stream.writableLength === 0) this.stream.write(headOf(0));
  }

  private receive(chunk: Buffer): void {
    this.receivedAt = performance.now();
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    for (let length = this.nextLength(); length !== null && !this.ended; length = this.nextLength()) {
      if (length > this.limits.maxMessageBytes) {
        this.end(new Error(`a message of ${length} bytes is over the limit of ${this.limits.maxMessageBytes}`));
        return;
      }
      if (this.buffered < HEAD_BYTES + length) return;
      this.readMessage(length);
    }
  }

  private nextLength(): number | null {
    if (this.buffered < HEAD_BYTES) return null;
    if ((this.chunks[0]?.length ?? 0) < HEAD_BYTES) this.chunks = [Buffer.concat(this.chunks)];
    return this.chunks[0]?.readUInt32BE(0) ?? null;
  }

  private readMessage(length: number): void {
    const all = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    const end = HEAD_BYTES + length;
    this.chunks = all.length > end ? [all.subarray(end)] : [];
    this.buffered = all.length - end;
    if (length === 0) return;
    let message: unknown;
    try {
      message = JSON.parse(all.toString('utf8', HEAD_BYTES, end));
    } catch (error) {
      this.end(error as Error);
      return;
    }
    for (const listener of this.messageListeners) listener(message);
  }

  private end(reason: Error | null): void {
    if (this.ended) return;
    this.ended = true;
    this.reason = reason;
    clearInterval(this.heartbeat);
    this.chunks = [];
    this.buffered = 0;
    this.stream.destroy();
    for (const listener of this.closeListeners.splice(0)) listener(reason);
  }
}

function headOf(length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(length, 0);
  return head;
}
