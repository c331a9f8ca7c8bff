import type { HttpNode } from '@gatehouse/contracts';
import { FormatError, invalid } from '../errors.js';
import { readName } from '../fields.js';
import { settleSni, tlsFields } from '../stream/tls.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import type { LinkParts } from './link-url.js';
import { readProxyTls } from './socks.js';
import { readExtras, writeExtras, writeTlsQuery } from './stream-query.js';
import { readCredentials, writeCredentials } from './userinfo.js';

/** HTTP(S) proxies as links. A web address is refused: it has a path, or neither a port nor a user. */
export const httpLinks: LinkCodec<HttpNode> = { schemes: ['http', 'https'], parse: parseHttp, format: formatHttp };

function parseHttp(link: string): HttpNode {
  const parts = splitLink(link);
  refuseWebAddress(parts);
  const secure = parts.scheme === 'https';
  const { server, port } = readEndpoint(parts.authority, secure ? 443 : 80);
  const node: HttpNode = {
    type: 'http',
    name: readName(parts.name ?? parts.query.get('remarks'), server, port),
    server,
    port,
    ...readCredentials(parts.userinfo),
    ...readExtras(parts.query),
  };
  const tls = readProxyTls(parts.query, secure);
  if (tls !== undefined) {
    settleSni(tls, server);
    node.tls = tls;
  }
  const headers = parts.query.get('headers');
  if (headers !== undefined) node.headers = readHeaders(headers);
  return node;
}

function refuseWebAddress(parts: LinkParts): void {
  const path = parts.userinfo === undefined ? parts.authority.replace(/^[^/]*/, '') : parts.path;
  const hasPort = /:\d+\/?$/.test(parts.authority);
  if ((path !== '' && path !== '/') || (!hasPort && parts.userinfo === undefined)) {
    throw new FormatError('invalid_link', 'a web address, not a proxy: scheme://[user:password@]host:port is expected');
  }
}

function readHeaders(json: string): Record<string, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new FormatError('invalid_json', 'headers must be a JSON object', { field: 'headers', cause });
  }
  const entries: [string, unknown][] = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (typeof value !== 'string' || name === '__proto__') throw invalid('headers', 'a JSON object of texts');
    headers[name] = value;
  }
  return headers;
}

function formatHttp(node: HttpNode): string {
  const { tls } = node;
  const query = {
    security: tls?.reality === undefined ? undefined : tlsFields(tls).security,
    ...writeTlsQuery(tls, tls?.sni),
    headers: node.headers === undefined ? undefined : JSON.stringify(node.headers),
    ...writeExtras(node),
  };
  return joinLink(tls === undefined ? 'http' : 'https', writeCredentials(node), node, query, node.name);
}
