import type { ServerResponse } from 'node:http';

/** What `node:http` writes into a status line: bytes of RFC 9112's `reason-phrase`, no control characters but a tab. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The reason phrase that an upstream sent; '' where it cannot be written. No client needs one (RFC 9112 section 4). */
export function writableReason(reason: string | undefined): string {
  return reason !== undefined && WRITABLE.test(reason) ? reason : '';
}

/** The status that an upstream sent, for a final answer; 502 for one that cannot be final: 1xx, and `000` to `099`. */
export function finalStatus(status: number | undefined): number {
  return status !== undefined && status >= 200 && status <= 999 ? status : 502;
}

/**
 * `response.writeHead` for an answer of an upstream: a status line that `node:http` refuses would otherwise throw, and the
 * answer that says so would throw again, as the response keeps the phrase.
 * @param fields name, value, name, value …
 */
export function writeStatusLine(
  response: ServerResponse,
  status: number | undefined,
  reason: string | undefined,
  fields: string[],
): void {
  const code = finalStatus(status);
  const phrase = code === status ? writableReason(reason) : '';
  if (phrase === '') response.writeHead(code, fields);
  else response.writeHead(code, phrase, fields);
}
