import type { ByteStream } from '@gatehouse/net';
import { setFlowInterval, setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import type { MuxTransport, MuxTransportHandlers } from '../mux/mux-transport.js';

/** How long the last bytes may take to be sent. */
const CLOSE_MS = 1000;

/** The transport of a multiplexer over one stream; detects silence. */
export class DirectTransport implements MuxTransport {
  private readonly stream: ByteStream;
  private readonly silentMs: number;
  private handlers: MuxTransportHandlers | null = null;
  private timer: NodeJS.Timeout | null = null;
  private received = true;

  /** `stream` must be paused. The other side sends something at least every `silentMs`. */
  constructor(stream: ByteStream, silentMs: number) {
    this.stream = stream;
    this.silentMs = silentMs;
  }

  get writableLength(): number {
    return this.stream.writableLength;
  }

  get remoteAddress(): string | undefined {
    return this.stream.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.stream.remotePort;
  }

  start(handlers: MuxTransportHandlers): void {
    const { stream } = this;
    this.handlers = handlers;
    stream.on('data', (part) => {
      this.received = true;
      this.handlers?.data(part);
    });
    stream.on('drain', () => this.handlers?.drain());
    stream.on('end', () => this.end(new TunnelError('connection', 'the other side ended the direct path')));
    stream.on('error', (error) => this.end(new TunnelError('connection', error.message, { cause: error })));
    stream.on('close', () => this.end(new TunnelError('connection', 'the direct path was closed')));
    this.timer = setFlowInterval(this, () => this.listen(), this.silentMs);
    if (stream.destroyed) this.end(new TunnelError('connection', 'the direct path was closed'));
    else stream.resume();
  }

  send(parts: readonly Uint8Array[]): boolean {
    const { stream } = this;
    if (stream.destroyed) return true;
    stream.cork();
    let room = true;
    for (const part of parts) room = stream.write(part);
    stream.uncork();
    return room || stream.writableLength === 0;
  }

  close(): void {
    this.stream.end();
    setFlowTimeout(this, () => this.destroy(), CLOSE_MS).unref();
  }

  destroy(): void {
    this.end(new TunnelError('stopped', 'the direct path was given up'));
  }

  private listen(): void {
    if (!this.received) this.end(new TunnelError('silent', 'the direct path fell silent'));
    this.received = false;
  }

  private end(error: TunnelError): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    const { handlers } = this;
    this.handlers = null;
    this.stream.destroy();
    handlers?.closed(error);
  }
}
