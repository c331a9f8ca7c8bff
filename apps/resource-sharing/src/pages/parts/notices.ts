import { frame } from '../../messages/en/frame.js';
import type { Visitor } from '../../wire/visitor.js';

/**
 * The result of the last action, selected by the word in the address to which a form redirected. Other words are
 * ignored.
 */
export type Notice = keyof typeof frame.notices;

/** Undefined for any other word. */
export function noticeOf({ words }: Visitor, query: unknown): string | undefined {
  const word = (query as { done?: unknown }).done;
  return typeof word === 'string' && Object.hasOwn(frame.notices, word)
    ? words.text(`notices.${word as Notice}`)
    : undefined;
}

/** The address to which a form redirects. */
export function done(path: string, notice: Notice): string {
  return `${path}?done=${notice}`;
}
