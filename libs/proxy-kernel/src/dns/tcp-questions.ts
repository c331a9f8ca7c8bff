import type { Socket } from 'node:net';
import { guardPromise } from '@gatehouse/net';

/** The reply to a message; null closes the connection. */
export type AnswerMessage = (message: Buffer) => Promise<Buffer> | Buffer | null;

/** Without a byte in either direction (RFC 7766 6.2.3: a few seconds at least). */
const IDLE_MS = 10_000;
/** Questions under way on one connection; more are read when some are answered. */
const MAX_PENDING = 64;
/** Unsent replies; no question is read while there are more. */
const MAX_UNSENT = 256 * 1024;

/**
 * Answers the questions of a TCP connection, each with its length before it, in the order in which answers are ready
 * (RFC 7766 6.2.1.1).
 */
export function serveStream(socket: Socket, answer: AnswerMessage): void {
  const stream = new QuestionStream(socket, answer);
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on('data', (chunk: Buffer) => stream.received(chunk));
  socket.on('end', () => stream.ended());
  socket.on('drain', () => stream.proceed());
}

class QuestionStream {
  readonly #socket: Socket;
  readonly #answer: AnswerMessage;
  #unread: Buffer = Buffer.alloc(0);
  #pending = 0;
  #ended = false;

  constructor(socket: Socket, answer: AnswerMessage) {
    this.#socket = socket;
    this.#answer = answer;
  }

  received(chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    this.proceed();
  }

  ended(): void {
    this.#ended = true;
    this.proceed();
  }

  /** Reads as many questions as there is room for. */
  proceed(): void {
    while (!this.#isFull()) {
      const message = this.#nextMessage();
      if (message === null) break;
      this.#ask(message);
    }
    if (this.#socket.destroyed) return;
    if (this.#isFull()) this.#socket.pause();
    else if (this.#ended && this.#pending === 0) this.#socket.end();
    else this.#socket.resume();
  }

  #isFull(): boolean {
    return this.#pending >= MAX_PENDING || this.#socket.writableLength > MAX_UNSENT;
  }

  #nextMessage(): Buffer | null {
    const size = this.#unread.length < 2 ? Infinity : this.#unread.readUInt16BE(0) + 2;
    if (this.#socket.destroyed || this.#unread.length < size) return null;
    const message = this.#unread.subarray(2, size);
    this.#unread = this.#unread.subarray(size);
    return message;
  }

  #ask(message: Buffer): void {
    const reply = this.#answer(message);
    if (reply === null) return void this.#socket.destroy();
    if (!(reply instanceof Promise)) return this.#send(reply);
    this.#pending++;
    const sent = reply.then((late) => {
      this.#pending--;
      this.#send(late);
      this.proceed();
    });
    guardPromise(this.#socket, sent);
  }

  #send(reply: Buffer): void {
    if (this.#socket.destroyed) return;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    this.#socket.write(Buffer.concat([length, reply]));
  }
}
