import { frame } from '../../messages/en/frame.js';
import type { Visitor } from '../../wire/visitor.js';

/** What was just done, by the word in the address that a form led to. Only these words say anything. */
export type Notice = keyof typeof frame.notices;

/** Undefined for any other word. */
export function noticeOf({ words }: Visitor, query: unknown): string | undefined {
  const word = (query as { done?: unknown }).done;
  return typeof word === 'string' && Object.hasOwn(frame.notices, word)
    ? words.text(`notices.${word as Notice}`)
    : undefined;
}

/** The address that a form leads to. */
export function done(path: string, notice: Notice): string {
  return `${path}?done=${notice}`;
}
