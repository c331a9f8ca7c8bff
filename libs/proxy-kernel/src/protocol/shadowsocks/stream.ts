import { setFlowTimeout, CarriedStream, type ByteStream } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { freshSalt, type AeadMethod } from './cipher.js';
import { ShadowsocksError } from './chunk-key.js';
import { StreamOpener, StreamSealer, aeadFormat } from './codec.js';

/** How long to wait for the first payload, so that it can be sent in one segment with the address. */
const FIRST_PAYLOAD_MS = 10;
const NOTHING = Buffer.alloc(0);

/** The cipher and key of a server. */
export interface ShadowsocksKeys {
  method: AeadMethod;
  master: Buffer;
}

/** Both directions of one stream. */
export interface ShadowsocksSession {
  sealer: StreamSealer;
  opener: StreamOpener;
  /** Sends its opening even without a payload. */
  speaksFirst: boolean;
  begin(payload: Uint8Array): Opening;
}

/** The bytes to send first, and the rest of the first payload to be sealed after them. */
export interface Opening {
  opening: Buffer;
  rest: Uint8Array;
}

/** SIP004. @param head sent before the first payload (by a client: the target's address). */
export function aeadSession({ method, master }: ShadowsocksKeys, head: Uint8Array): ShadowsocksSession {
  const salt = freshSalt(method);
  const format = aeadFormat(method, master);
  return {
    sealer: new StreamSealer(format, salt),
    opener: new StreamOpener(format),
    speaksFirst: head.length > 0,
    begin: (payload) => ({ opening: salt, rest: head.length > 0 ? Buffer.concat([head, payload]) : payload }),
  };
}

/**
 * A Shadowsocks stream over a connected stream. Not a `stream.Duplex`, whose buffering and callbacks would cost more
 * per chunk than AES does. Writes are sealed directly into the socket's buffer, which gives the backpressure.
 */
export class ShadowsocksStream extends CarriedStream implements ByteStream {
  /** Sealed bytes have memory of their own. */
  readonly copiesWrites = true;
  readonly copiesAtOnce = true;
  private readonly session: ShadowsocksSession;
  private begun = false;
  private readonly prologueTimer: NodeJS.Timeout | null;
  private readonly waiting: Buffer[] = [];
  private paused = true;
  private sourceEnded = false;
  private endEmitted = false;
  private room = true;

  constructor(socket: ByteStream, session: ShadowsocksSession) {
    super(socket);
    this.session = session;
    this.prologueTimer = session.speaksFirst ? setFlowTimeout(this, () => this.sendPrologue(), FIRST_PAYLOAD_MS) : null;
    socket.on('data', (bytes: Buffer) => this.received(bytes));
    socket.on('end', () => this.sourceEnd());
    socket.on('drain', () => this.emit('drain'));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.closed());
  }

  get destroyed(): boolean {
    return this.inner.destroyed;
  }

  get readableEnded(): boolean {
    return this.endEmitted;
  }

  write(chunk: Uint8Array): boolean {
    if (this.inner.destroyed) return false;
    this.room = true;
    this.send(chunk);
    // A corked write reports a full buffer before the system was asked; what counts is what remains.
    return this.room || this.inner.writableLength === 0;
  }

  end(): void {
    this.sendPrologue();
    this.inner.end();
  }

  pause(): void {
    this.paused = true;
    this.inner.pause();
  }

  resume(): void {
    this.paused = false;
    while (!this.paused && this.waiting.length > 0) {
      const plain = this.waiting.shift();
      if (plain) this.emit('data', plain);
    }
    if (this.paused) return;
    this.inner.resume();
    if (this.sourceEnded) this.emitEnd();
  }

  unshift(chunk: Uint8Array): void {
    this.waiting.unshift(Buffer.from(chunk));
  }

  destroy(error?: Error): void {
    this.inner.destroy(error);
  }

  private send(plain: Uint8Array): void {
    const { opening, rest } = this.begun ? { opening: NOTHING, rest: plain } : this.begin(plain);
    this.inner.cork();
    this.session.sealer.seal(rest, this.writePiece, opening);
    this.inner.uncork();
  }

  private readonly writePiece = (piece: Buffer): void => {
    if (!this.inner.write(piece)) this.room = false;
  };

  private sendPrologue(): void {
    if (!this.begun && !this.inner.destroyed) this.send(NOTHING);
  }

  private begin(payload: Uint8Array): Opening {
    this.begun = true;
    if (this.prologueTimer) clearTimeout(this.prologueTimer);
    return this.session.begin(payload);
  }

  private received(bytes: Buffer): void {
    try {
      this.session.opener.push(bytes, this.give);
    } catch (error) {
      const kind = error instanceof ShadowsocksError ? 'auth_failed' : 'protocol_error';
      this.inner.destroy(new DialError('handshake', kind, (error as Error).message, { cause: error }));
    }
    // The opened bytes are a copy, so the sealed ones can be overwritten.
    this.inner.release?.();
  }

  private readonly give = (plain: Buffer): void => {
    if (this.paused || this.waiting.length > 0) this.waiting.push(plain);
    else this.emit('data', plain);
  };

  private sourceEnd(): void {
    if (!this.session.opener.atBoundary) {
      this.inner.destroy(new DialError('relay', 'protocol_error', 'the stream ended inside a chunk'));
      return;
    }
    this.sourceEnded = true;
    if (!this.paused && this.waiting.length === 0) this.emitEnd();
  }

  private emitEnd(): void {
    if (this.endEmitted || this.waiting.length > 0) return;
    this.endEmitted = true;
    this.emit('end');
  }

  private fail(error: Error): void {
    // Without a listener an `error` event would end the process; `close` follows in any case.
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }

  private closed(): void {
    if (this.prologueTimer) clearTimeout(this.prologueTimer);
    this.session.sealer.erase();
    this.session.opener.erase();
    this.emit('close');
  }
}
