import type { NodeTls, Socks5Node } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { readName, readSwitch } from '../fields.js';
import { settleSni, tlsFields } from '../stream/tls.js';
import { decodeBase64Text } from '../text/base64.js';
import { decodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import type { LinkParts, LinkQuery } from './link-url.js';
import { readExtras, readTlsQuery, writeExtras, writeTlsQuery } from './stream-query.js';
import { readCredentials, splitCredentials, writeCredentials } from './userinfo.js';
import type { Credentials } from './userinfo.js';

/** SOCKS5 proxies as links. `socks4` is recognised but not supported. */
export const socksLinks: LinkCodec<Socks5Node> = {
  schemes: ['socks', 'socks5', 'socks5h', 'socks5+tls', 'socks4', 'socks4a'],
  parse: parseSocks,
  format: formatSocks,
};

function parseSocks(link: string): Socks5Node {
  const parts = splitLink(link);
  if (parts.scheme.startsWith('socks4')) {
    throw new FormatError('unsupported_type', 'SOCKS4 is not supported, only SOCKS5', { field: 'type' });
  }
  const { credentials, authority } = readPlace(parts);
  const { server, port } = readEndpoint(authority, 1080);
  const node: Socks5Node = {
    type: 'socks5',
    name: readName(parts.name ?? parts.query.get('remarks'), server, port),
    server,
    port,
    ...credentials,
    ...readExtras(parts.query),
  };
  const tls = readProxyTls(parts.query, parts.scheme === 'socks5+tls');
  if (tls !== undefined) {
    settleSni(tls, server);
    node.tls = tls;
  }
  return node;
}

/** `socks://BASE64(user:password@host:port)` is the form of older clients. */
function readPlace(parts: LinkParts): { credentials: Credentials; authority: string } {
  if (parts.userinfo !== undefined) {
    return { credentials: readCredentials(parts.userinfo), authority: parts.authority };
  }
  const decoded = parts.authority.includes(':') ? undefined : decodeBase64Text(decodePercent(parts.authority));
  const at = decoded?.lastIndexOf('@') ?? -1;
  if (decoded === undefined || !decoded.includes(':')) return { credentials: {}, authority: parts.authority };
  return at === -1
    ? { credentials: {}, authority: decoded }
    : { credentials: splitCredentials(decoded.slice(0, at)), authority: decoded.slice(at + 1) };
}

/** TLS to an HTTP or SOCKS proxy. Certificates are verified by default. */
export function readProxyTls(query: LinkQuery, byScheme: boolean): NodeTls | undefined {
  const security = query.get('security') ?? (readSwitch(query.get('tls'), 'tls') === true || byScheme ? 'tls' : 'none');
  return readTlsQuery(query, security);
}

function formatSocks(node: Socks5Node): string {
  const query = {
    security: node.tls === undefined ? undefined : tlsFields(node.tls).security,
    ...writeTlsQuery(node.tls, node.tls?.sni),
    ...writeExtras(node),
  };
  return joinLink('socks5', writeCredentials(node), node, query, node.name);
}
