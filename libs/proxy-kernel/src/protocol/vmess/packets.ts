import { resetStream, type ByteStream } from '@gatehouse/net';
import type { TargetChannel } from '../target-packets.js';
import { MAX_DATAGRAM } from './body.js';
import type { VmessSession } from './session.js';

/** Unsent bytes of a stream; beyond this datagrams are dropped. */
const MAX_BACKLOG_BYTES = 512 * 1024;

/** Datagrams with one target, each of which is a chunk. An invalid chunk ends this stream only. */
export class VmessChannel implements TargetChannel {
  private readonly stream: ByteStream;
  private readonly session: VmessSession;
  private readonly messageListeners: ((payload: Buffer) => void)[] = [];
  private readonly closeListeners: (() => void)[] = [];
  private closed = false;

  /** @param carrier sends the session's head and skips its answer. */
  constructor(carrier: ByteStream, session: VmessSession) {
    this.stream = carrier;
    this.session = session;
    carrier.on('data', (bytes) => this.received(bytes));
    carrier.on('error', () => this.end());
    carrier.on('end', () => this.end());
    carrier.on('close', () => this.end());
    carrier.resume();
  }

  send(payload: Buffer): void {
    if (this.closed || payload.length === 0 || payload.length > MAX_DATAGRAM) return;
    if (this.stream.writableLength > MAX_BACKLOG_BYTES) return;
    this.session.sealer.sealChunk(payload, (piece) => this.stream.write(piece));
  }

  onMessage(listener: (payload: Buffer) => void): void {
    this.messageListeners.push(listener);
  }

  onClose(listener: () => void): void {
    this.closeListeners.push(listener);
  }

  close(): void {
    this.end();
  }

  private received(bytes: Buffer): void {
    try {
      this.session.opener.push(bytes, (pieces) => {
        const payload = Buffer.concat(pieces);
        for (const listener of this.messageListeners) listener(payload);
      });
      if (this.session.opener.done) this.end();
    } catch {
      // A chunk that does not open was not sealed with our key, so the rest cannot be read.
      this.end();
    }
  }

  private end(): void {
    if (this.closed) return;
    this.closed = true;
    resetStream(this.stream);
    for (const listener of this.closeListeners) listener();
  }
}
