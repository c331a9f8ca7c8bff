import type { ByteStream } from '@gatehouse/net';
import { encodeProbeAnswer, isProbe, startLength, START_HEADER_BYTES } from '../wire/prelude.js';

export interface StartEvents {
  /** `rest`: what came behind the start. The stream still reads, and has no listeners. An exception is passed to `failed`. */
  started(start: Buffer, rest: Buffer): void;
  /** Something else than a start came. */
  failed(error: unknown): void;
  /** The stream ended or closed. */
  ended(error: Error | null): void;
}

const NOTHING: Buffer = Buffer.alloc(0);

/** Reads what comes before the visitors of one channel: probes, which it answers, and starts. */
export class StartReader {
  private readonly events: StartEvents;
  private stream: ByteStream | null = null;
  /** A probe or a start that has arrived in part. */
  private partial = NOTHING;

  constructor(events: StartEvents) {
    this.events = events;
  }

  /** Waits for the next start on `stream`. */
  listen(stream: ByteStream): void {
    this.stream = stream;
    stream.on('data', this.onData);
    stream.on('end', this.onEnd);
    stream.on('error', this.onError);
    stream.on('close', this.onEnd);
    stream.resume();
  }

  private readonly onData = (chunk: Buffer): void => {
    const { stream } = this;
    if (!stream) return;
    const bytes = this.partial.length > 0 ? Buffer.concat([this.partial, chunk]) : chunk;
    try {
      const length = answerProbes(bytes, stream);
      const start = startAt(bytes, length);
      if (start) {
        this.partial = NOTHING;
        this.leave(stream);
        const rest = bytes.subarray(length + start.length);
        this.events.started(start, rest.length > 0 ? Buffer.from(rest) : NOTHING);
      } else this.partial = Buffer.from(bytes.subarray(length));
      // Everything that is kept was copied.
      stream.release?.();
    } catch (error) {
      this.leave(stream);
      this.events.failed(error);
    }
  };

  private readonly onEnd = (): void => this.ended(null);
  private readonly onError = (error: Error): void => this.ended(error);

  private ended(error: Error | null): void {
    if (!this.stream) return;
    this.leave(this.stream);
    this.events.ended(error);
  }

  private leave(stream: ByteStream): void {
    this.stream = null;
    stream.off('data', this.onData);
    stream.off('end', this.onEnd);
    stream.off('error', this.onError);
    stream.off('close', this.onEnd);
  }
}

/** Returns where the probes end. */
function answerProbes(bytes: Buffer, stream: ByteStream): number {
  let at = 0;
  while (bytes.length - at >= START_HEADER_BYTES && isProbe(bytes.subarray(at, at + START_HEADER_BYTES))) {
    stream.write(encodeProbeAnswer());
    at += START_HEADER_BYTES;
  }
  return at;
}

/** Null: a part is missing. @throws TunnelError `protocol`. */
function startAt(bytes: Buffer, at: number): Buffer | null {
  if (bytes.length - at < START_HEADER_BYTES) return null;
  const end = at + START_HEADER_BYTES + startLength(bytes.subarray(at, at + START_HEADER_BYTES));
  return bytes.length < end ? null : bytes.subarray(at, end);
}
