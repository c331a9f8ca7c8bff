import type { IncomingMessage } from 'node:http';
import { HttpRequestError, parseAuthority, type Authority } from './codec.js';

export interface ForwardTarget extends Authority {
  /** Path and query of the request to the origin. */
  path: string;
  /** The `Host` of the request to the origin. */
  authority: string;
  /** The URL without its query, for the record. */
  url: string;
}

/** Parses the target of an absolute-form request (RFC 9112 3.2.2). @throws HttpRequestError 400. */
export function parseAbsoluteForm(url: string): ForwardTarget {
  const match = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(url);
  if (!match) throw new HttpRequestError(400, 'this is a proxy: ask for http://host/path, or CONNECT host:port');
  const authority = (match[1] ?? '').replace(/^[^@]*@/, '');
  const rest = match[2] ?? '';
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const { host, port } = parseAuthority(authority, 80);
  return { host, port, path, authority, url: `http://${authority}${path.split('?', 1)[0] ?? ''}` };
}

/**
 * Refuses requests that two parsers could understand differently (RFC 9112 11.2). Node's parser has already refused
 * `Content-Length` next to `Transfer-Encoding`, repeated lengths and malformed chunks.
 * @throws HttpRequestError
 */
export function checkFraming(request: IncomingMessage): void {
  const { headersDistinct } = request;
  if ((headersDistinct['host']?.length ?? 0) > 1) throw new HttpRequestError(400, 'more than one Host');
  const codings = headersDistinct['transfer-encoding'];
  if (codings && codings.join(',').trim().toLowerCase() !== 'chunked') {
    throw new HttpRequestError(501, 'the transfer coding is not supported');
  }
}
