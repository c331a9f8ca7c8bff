import type { ByteStream } from '@gatehouse/net';
import { setFlowInterval, setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { decodeMessage, encodeMessage, frameLimit, type Side } from '../wire/codec.js';
import { FrameDecoder } from '../wire/frame.js';
import type { Message } from '../wire/messages.js';

/** Bytes that a peer may leave unread before the link is closed. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** Missed heartbeats after which the other side counts as dead. */
const MISSED_HEARTBEATS = 3;
/** How long the last message may take to be sent. */
const LAST_WORD_MS = 1000;

export interface LinkHandlers {
  /** May throw a TunnelError, which ends the link. */
  message(message: Message): void;
  /** The other side has said something. */
  heard?(): void;
  /** Called once, whichever side ended the link. */
  closed(error: TunnelError): void;
}

/** One end of a control connection: messages in both directions, heartbeats, and an end with its reason. */
export class ControlLink {
  private readonly stream: ByteStream;
  private readonly side: Side;
  private readonly peer: Side;
  private readonly handlers: LinkHandlers;
  private readonly decoder: FrameDecoder;
  private timer: NodeJS.Timeout | null = null;
  private received = true;
  private silence = 0;
  private sequence = 0;
  private pingedAt = 0;
  private ended = false;
  /** Round trip of the last ping; null before the first. */
  roundTripMs: number | null = null;

  constructor(stream: ByteStream, side: Side, handlers: LinkHandlers) {
    this.stream = stream;
    this.side = side;
    this.peer = side === 'agent' ? 'server' : 'agent';
    this.handlers = handlers;
    this.decoder = new FrameDecoder((type) => frameLimit(type, this.peer));
    stream.on('data', (chunk) => this.read(chunk));
    stream.on('end', () => this.end(new TunnelError('connection', 'the other side ended the control connection')));
    stream.on('error', (error) => this.end(new TunnelError('connection', error.message, { cause: error })));
    stream.on('close', () => this.end(new TunnelError('connection', 'the control connection was closed')));
    stream.resume();
  }

  get closed(): boolean {
    return this.ended;
  }

  get remoteAddress(): string {
    return this.stream.remoteAddress ?? '';
  }

  send(message: Message): void {
    if (this.ended) return;
    this.stream.write(encodeMessage(message));
    if (this.stream.writableLength > MAX_UNSENT_BYTES)
      this.end(new TunnelError('overloaded', 'the peer reads too slowly'));
  }

  /** Starts to ping (server side) and to watch for silence. `onBeat`: called at each heartbeat. */
  startHeartbeat(intervalMs: number, onBeat?: () => void): void {
    this.timer ??= setFlowInterval(
      this.stream,
      () => {
        this.beat();
        onBeat?.();
      },
      intervalMs,
    );
  }

  /** Ends the link with a last message. */
  close(error: TunnelError, last?: Message): void {
    if (this.ended) return;
    if (last) this.stream.write(encodeMessage(last));
    this.stream.end();
    // A peer that does not read the last message must not keep the socket open.
    const timer = setFlowTimeout(this.stream, () => this.stream.destroy(), LAST_WORD_MS);
    this.stream.once('close', () => clearTimeout(timer));
    this.finish(error);
  }

  /** Asks the other side for an answer. */
  ping(): void {
    this.sequence = (this.sequence + 1) >>> 0;
    this.pingedAt = performance.now();
    this.send({ type: 'ping', sequence: this.sequence });
  }

  private beat(): void {
    this.silence = this.received ? 0 : this.silence + 1;
    this.received = false;
    if (this.silence >= MISSED_HEARTBEATS) return this.end(new TunnelError('silent', 'the other side fell silent'));
    if (this.side === 'server') this.ping();
  }

  private read(chunk: Buffer): void {
    if (this.ended) return;
    this.received = true;
    this.handlers.heard?.();
    try {
      for (const frame of this.decoder.read(chunk)) {
        const message = decodeMessage(frame, this.peer);
        if (message) this.receive(message);
        if (this.ended) return;
      }
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.end(error);
    }
  }

  private receive(message: Message): void {
    if (message.type === 'ping') this.send({ type: 'pong', sequence: message.sequence });
    else if (message.type !== 'pong') this.handlers.message(message);
    else if (message.sequence === this.sequence) this.roundTripMs = performance.now() - this.pingedAt;
  }

  private end(error: TunnelError): void {
    this.stream.destroy();
    this.finish(error);
  }

  private finish(error: TunnelError): void {
    if (this.ended) return;
    this.ended = true;
    if (this.timer) clearInterval(this.timer);
    this.handlers.closed(error);
  }
}
