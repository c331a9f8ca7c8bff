import type { ServerResponse } from 'node:http';

/** What `node:http` accepts in a status line: the `reason-phrase` of RFC 9112, without control characters other than a tab. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The reason phrase of an upstream, or '' if it cannot be written. No client needs one (RFC 9112 section 4). */
export function writableReason(reason: string | undefined): string {
  return reason !== undefined && WRITABLE.test(reason) ? reason : '';
}

/** The status of an upstream for a final answer; 502 for one that cannot be final (`000` to `199`). */
export function finalStatus(status: number | undefined): number {
  return status !== undefined && status >= 200 && status <= 999 ? status : 502;
}

/**
 * `response.writeHead` for the answer of an upstream. A status line that `node:http` refuses would throw, and so would the
 * error answer after it, because the response keeps the phrase.
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
