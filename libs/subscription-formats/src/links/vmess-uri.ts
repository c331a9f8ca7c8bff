import type { NodeTls, NodeTransport, VmessNode } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { readCount, readName, readSwitch, readUuid } from '../fields.js';
import { buildTls, settleSni } from '../stream/tls.js';
import { buildTransport, given } from '../stream/transport.js';
import { readVmessCipher } from '../stream/vmess.js';
import { decodePercent } from '../text/percent.js';
import { readEndpoint } from './link-url.js';
import type { LinkParts, LinkQuery } from './link-url.js';
import { readExtras, readTlsQuery, readTransportQuery, tlsQueryFields } from './stream-query.js';

/** `vmess://uuid@host:port?…`, the AEAD form of XTLS/Xray-core discussion 716. */
export function parseVmessUri(parts: LinkParts): VmessNode {
  const { userinfo, query } = parts;
  const transport = readTransportQuery(query);
  const tls = readTlsQuery(query, query.get('security') ?? '');
  const user = {
    uuid: decodePercent(userinfo ?? ''),
    cipher: query.get('encryption'),
    alterId: query.get('aid', 'alterid'),
  };
  return buildVmess(parts, parts.authority, user, tls, transport);
}

/** `BASE64(cipher:uuid@host:port)?…` with the parameters of Shadowrocket (`obfs…`) or Kitsunebi (`network`, `ws…`). */
export function parseVmessRocket(text: string, parts: LinkParts): VmessNode {
  const { query } = parts;
  const at = text.lastIndexOf('@');
  const colon = text.indexOf(':');
  if (at === -1 || colon === -1 || colon > at) {
    throw new FormatError('invalid_link', 'the base64 in the link is neither JSON nor cipher:uuid@host:port');
  }
  const user = {
    cipher: text.slice(0, colon),
    uuid: text.slice(colon + 1, at),
    alterId: query.get('alterid', 'aid'),
  };
  const secure = readSwitch(query.get('tls'), 'tls') === true;
  const tls = buildTls(tlsQueryFields(query, query.get('security') ?? (secure ? 'tls' : '')));
  return buildVmess(parts, text.slice(at + 1), user, tls, rocketTransport(query));
}

/** `obfs` is the transport; `obfsParam` a Host, or a JSON object of headers. */
function rocketTransport(query: LinkQuery): NodeTransport | undefined {
  const obfs = query.get('obfs', 'network', 'type') ?? '';
  const param = query.get('obfsparam', 'wshost', 'host');
  const headers = param?.trim().startsWith('{') === true ? normaliseHeaders(param) : undefined;
  const kind = obfs === 'http' && query.has('obfs') ? 'tcp' : obfs;
  return buildTransport({
    kind,
    headerType: kind === 'tcp' && obfs === 'http' ? 'http' : query.get('headertype'),
    path: query.get('path', 'wspath'),
    serviceName: query.get('servicename', 'path'),
    ...(headers === undefined ? { host: param } : headers),
  });
}

function normaliseHeaders(json: string): { host?: string; headers?: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new FormatError('invalid_json', 'obfsParam must be a host or a JSON object', { field: 'obfsParam', cause });
  }
  const rest: Record<string, unknown> = {};
  let host: string | undefined;
  for (const [name, value] of Object.entries(typeof parsed === 'object' && parsed !== null ? parsed : {})) {
    if (name.toLowerCase() === 'host' && typeof value === 'string') host = value;
    else rest[name] = value;
  }
  return { ...given('host', host), ...(Object.keys(rest).length > 0 ? { headers: JSON.stringify(rest) } : {}) };
}

interface VmessUser {
  uuid: string;
  cipher: string | undefined;
  alterId: string | undefined;
}

function buildVmess(
  parts: LinkParts,
  authority: string,
  user: VmessUser,
  tls: NodeTls | undefined,
  transport: NodeTransport | undefined,
): VmessNode {
  const { server, port } = readEndpoint(authority);
  settleSni(tls, server, transport);
  const node: VmessNode = {
    type: 'vmess',
    name: readName(parts.name ?? parts.query.get('remarks', 'remark'), server, port),
    server,
    port,
    uuid: readUuid(user.uuid),
    alterId: readCount(user.alterId, 'alterId') ?? 0,
    cipher: readVmessCipher(user.cipher),
    ...given('packetEncoding', parts.query.get('packetencoding', 'packet-encoding')),
    ...readExtras(parts.query),
  };
  if (tls !== undefined) node.tls = tls;
  if (transport !== undefined) node.transport = transport;
  return node;
}
