import { asHostName } from './host-name.js';
import type { SniffResult } from './tls-sniff.js';

const MAX_HEAD_BYTES = 16 * 1024;
const METHODS = ['GET ', 'POST ', 'HEAD ', 'PUT ', 'DELETE ', 'OPTIONS ', 'PATCH ', 'TRACE ', 'CONNECT '];

/** Host of a plain HTTP/1 request's `Host` header, without its port. Pure; reads at most 16 KiB. */
export function sniffHttpHost(bytes: Buffer): SniffResult {
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, MAX_HEAD_BYTES));
  if (!METHODS.some((method) => head.startsWith(method) || method.startsWith(head))) return { state: 'no' };
  const end = head.indexOf('\r\n\r\n');
  const host = hostField(end < 0 ? head : head.slice(0, end + 2));
  if (host !== undefined) return { state: 'found', host: withoutPort(host) };
  if (end >= 0) return { state: 'found', host: null };
  return bytes.length >= MAX_HEAD_BYTES ? { state: 'no' } : { state: 'incomplete' };
}

function withoutPort(authority: string): string | null {
  return asHostName(authority.replace(/:\d+$/, ''));
}

/**
 * The first `Host` of a head of which the whole line is there, as it was said. Line by line: an expression that tries its
 * ways is a stranger's to hang.
 */
export function hostField(head: string): string | undefined {
  let at = head.indexOf('\r\n');
  for (let end = head.indexOf('\r\n', at + 2); at >= 0 && end >= 0; end = head.indexOf('\r\n', at + 2)) {
    const line = head.slice(at + 2, end);
    if (/^host:/i.test(line)) return line.slice('host:'.length).trim();
    at = end;
  }
  return undefined;
}
