import {
  maskedWebSocketFrame,
  setFlowTimeout,
  WEBSOCKET_OPCODE,
  WebSocketError,
  webSocketFrame,
  webSocketFrameHeader,
  WebSocketFrameReader,
  type ByteStream,
} from '@gatehouse/net';
import { protocolError, TunnelError } from '../errors.js';
import type { MuxTransport, MuxTransportHandlers } from '../mux/mux-transport.js';

/** Up to this size, copying costs less than passing a list of buffers to the system. */
const COPY_BYTES = 16 * 1024;
/** How much may wait to be sent to a peer that sends pings and does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** How long the other side may take to answer a close. */
const CLOSE_MS = 1000;
/** RFC 6455 7.4.1. */
const NORMAL = Buffer.of(0x03, 0xe8);

/** A WebSocket after its handshake, as a stream of bytes. The boundaries of its messages have no meaning. */
export class WebSocketTransport implements MuxTransport {
  private readonly stream: ByteStream;
  private readonly isClient: boolean;
  private readonly reader: WebSocketFrameReader;
  private handlers: MuxTransportHandlers | null = null;
  private closing: NodeJS.Timeout | null = null;
  private ended = false;

  /** `stream` must be paused. A client masks its frames. */
  constructor(stream: ByteStream, isClient: boolean) {
    this.stream = stream;
    this.isClient = isClient;
    this.reader = new WebSocketFrameReader(
      { masked: !isClient },
      {
        data: (part) => this.handlers?.data(part),
        control: (opcode, payload) => this.control(opcode, payload),
      },
    );
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
    stream.on('data', (chunk) => this.read(chunk));
    stream.on('drain', () => handlers.drain());
    stream.on('end', () => this.end(new TunnelError('connection', 'the other side ended the WebSocket')));
    stream.on('error', (error) => this.end(new TunnelError('connection', error.message, { cause: error })));
    stream.on('close', () => this.end(new TunnelError('connection', 'the WebSocket was closed')));
    if (stream.destroyed) this.end(new TunnelError('connection', 'the WebSocket was closed'));
    else stream.resume();
  }

  send(parts: readonly Uint8Array[]): boolean {
    const { stream } = this;
    if (this.ended || this.closing) return true;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.isClient || length <= COPY_BYTES) return stream.write(this.frame(WEBSOCKET_OPCODE.binary, parts));
    stream.cork();
    let room = stream.write(webSocketFrameHeader(WEBSOCKET_OPCODE.binary, length));
    for (const part of parts) room = stream.write(part);
    stream.uncork();
    return room || stream.writableLength === 0;
  }

  close(): void {
    if (this.ended || this.closing) return;
    this.stream.write(this.frame(WEBSOCKET_OPCODE.close, [NORMAL]));
    this.stream.end();
    this.closing = setFlowTimeout(this, () => this.destroy(), CLOSE_MS);
  }

  destroy(): void {
    this.end(new TunnelError('stopped', 'the WebSocket was given up'));
  }

  private read(chunk: Buffer): void {
    if (this.ended) return;
    try {
      this.reader.read(chunk);
    } catch (error) {
      if (error instanceof WebSocketError) this.end(protocolError(error.message));
      else if (error instanceof TunnelError) this.end(error);
      else throw error;
    }
  }

  private frame(opcode: number, parts: readonly Uint8Array[]): Buffer {
    return this.isClient ? maskedWebSocketFrame(opcode, parts) : webSocketFrame(opcode, parts);
  }

  private control(opcode: number, payload: Buffer): void {
    if (opcode === WEBSOCKET_OPCODE.pong || this.ended) return;
    if (opcode === WEBSOCKET_OPCODE.ping && this.stream.writableLength > MAX_UNSENT_BYTES) {
      throw new TunnelError('overloaded', 'the peer pings and does not read');
    }
    if (opcode === WEBSOCKET_OPCODE.ping) {
      this.stream.write(this.frame(WEBSOCKET_OPCODE.pong, [payload]));
      return;
    }
    // It makes no difference whether this is the answer to our close or a close of the other side: nothing follows.
    this.close();
    this.handlers?.closed(new TunnelError('connection', 'the other side closed the WebSocket'));
    this.handlers = null;
  }

  private end(error: TunnelError): void {
    if (this.ended) return;
    this.ended = true;
    if (this.closing) clearTimeout(this.closing);
    this.stream.destroy();
    this.handlers?.closed(error);
    this.handlers = null;
  }
}
