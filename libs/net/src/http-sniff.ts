import { asHostName, type SniffResult } from './tls-sniff.js';

const MAX_HEAD_BYTES = 16 * 1024;
const METHODS = ['GET ', 'POST ', 'HEAD ', 'PUT ', 'DELETE ', 'OPTIONS ', 'PATCH ', 'TRACE ', 'CONNECT '];

/** Host of a plain HTTP/1 request's `Host` header, without its port. Pure; reads at most 16 KiB. */
export function sniffHttpHost(bytes: Buffer): SniffResult {
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, MAX_HEAD_BYTES));
  if (!METHODS.some((method) => head.startsWith(method) || method.startsWith(head))) return { state: 'no' };
  const end = head.indexOf('\r\n\r\n');
  const match = /\r\nhost:[ \t]*([^\r\n]*?)[ \t]*\r\n/i.exec(end < 0 ? head : head.slice(0, end + 2));
  if (match) return { state: 'found', host: withoutPort(match[1] ?? '') };
  if (end >= 0) return { state: 'found', host: null };
  return bytes.length >= MAX_HEAD_BYTES ? { state: 'no' } : { state: 'incomplete' };
}

function withoutPort(authority: string): string | null {
  return asHostName(authority.replace(/:\d+$/, ''));
}
