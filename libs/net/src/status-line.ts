import type { ServerResponse } from 'node:http';

/** What `node:http` writes into a status line: bytes of RFC 9112's `reason-phrase`, no control characters but a tab. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The reason phrase of somebody else's answer; '' where it cannot be written. Nobody needs one (RFC 9112 4). */
export function writableReason(reason: string | undefined): string {
  return reason !== undefined && WRITABLE.test(reason) ? reason : '';
}

/** The status of somebody else's answer as a final one; 502 for what no final answer has: interim ones and `000` to `099`. */
export function finalStatus(status: number | undefined): number {
  return status !== undefined && status >= 200 && status <= 999 ? status : 502;
}

/**
 * `response.writeHead` for somebody else's answer: a status line that `node:http` refuses would otherwise throw, and the
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
