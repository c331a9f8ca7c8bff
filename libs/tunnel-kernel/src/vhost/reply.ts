import { STATUS_CODES } from 'node:http';
import type { ByteStream } from '@gatehouse/net';
import type { GatewayAnswer } from '../access/visitor-verifier.js';

/** How long the rest of a request that was answered early is read and discarded. */
export const LINGER_MS = 5000;

/** Notified about the progress of an answer. */
export interface ReplyOwner {
  /** More can be written after `write` returned false. */
  drained(): void;
  /** Called once, last: the answer has been sent (after `end`) or never will be. */
  gone(): void;
}

export interface ReplyHead {
  status: number;
  statusText: string;
  /** Name, value, name, value … */
  fields: string[];
  /** The answer has no body, whatever its fields say. */
  bodyless: boolean;
  /** Value of `Trailer`; null if no trailers were announced. */
  trailer: string | null;
}

/** The answer to a visitor, whichever version of HTTP it uses. */
export interface Reply {
  owner: ReplyOwner | null;
  /** Sends an interim answer: 100, 103. */
  inform(status: number, fields: readonly string[]): void;
  begin(head: ReplyHead): void;
  /** False: wait for `drained`. */
  write(chunk: Buffer): boolean;
  /** `last`: the last part of the body, if it was not written yet. */
  end(trailers: readonly string[], last?: Buffer | null): void;
  /** Ends the answer so that the visitor can tell it is incomplete. `cancelled`: the target cancelled it before it began. */
  abort(cancelled?: boolean): void;
  /** The connection serves no further requests. */
  close(): void;
  /** Switches the connection to another protocol; null: it has closed. */
  takeOver(protocol: string, fields: readonly string[]): ByteStream | null;
}

/** How an answer of the gateway itself is written. `content`: null if no body is sent. */
export function replyOf(
  { status, headers, body }: GatewayAnswer,
  method: string,
): { head: ReplyHead; content: Buffer | null } {
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const fields = headers.flat();
  if (!headers.some(([name]) => name.toLowerCase() === 'content-length')) {
    fields.push('content-length', String(content.length));
  }
  // Node would add both, and they would not be counted.
  fields.push('date', new Date().toUTCString());
  const statusText = STATUS_CODES[status] ?? '';
  const bodyless = method === 'HEAD';
  const head = { status, statusText, fields, bodyless, trailer: null };
  return { head, content: content.length > 0 && !bodyless ? content : null };
}
