import type { ByteStream } from '@gatehouse/net';
import type { GatewayAnswer } from '../access/visitor-verifier.js';

/** How long the rest of a request that was answered early is read and thrown away. */
export const LINGER_MS = 5000;

/** Who is told what becomes of an answer. */
export interface ReplyOwner {
  /** There is room again after `write` answered false. */
  drained(): void;
  /** Once, last: the answer has been sent (after `end`) or will never be. */
  gone(): void;
}

export interface ReplyHead {
  status: number;
  statusText: string;
  /** Name, value, name, value … */
  fields: string[];
  /** The answer has no body, whatever its fields say, and nothing follows its head. */
  bodyless: boolean;
  /** Names of the fields that follow the body; null where none were announced. */
  trailer: string | null;
}

/** The way back to the visitor, in whatever version of HTTP it speaks. */
export interface Reply {
  owner: ReplyOwner | null;
  /** An interim answer: 100, 103. */
  inform(status: number, fields: readonly string[]): void;
  begin(head: ReplyHead): void;
  /** False: wait for `drained`. */
  write(chunk: Buffer): boolean;
  /** `last`: the last part of the body, if it was not written yet. */
  end(trailers: readonly string[], last?: Buffer | null): void;
  /** Ends what was begun so that the visitor does not take it for whole. */
  abort(): void;
  /** The connection serves no other request after this one. */
  close(): void;
  /** Turns the connection over to another protocol; null: it is gone. */
  takeOver(protocol: string, fields: readonly string[]): ByteStream | null;
}

/** How an answer of the gateway itself is written. `content`: null where none is sent. */
export function replyOf(
  { status, headers, body }: GatewayAnswer,
  method: string,
): { head: ReplyHead; content: Buffer | null } {
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const fields = headers.flat();
  if (!headers.some(([name]) => name.toLowerCase() === 'content-length')) {
    fields.push('content-length', String(content.length));
  }
  const bodyless = method === 'HEAD';
  const head = { status, statusText: '', fields, bodyless, trailer: null };
  return { head, content: content.length > 0 && !bodyless ? content : null };
}
