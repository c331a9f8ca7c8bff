import type { NodeTls, NodeTransport, VlessNode } from '@gatehouse/contracts';
import { missing } from '../errors.js';
import { readName, readUuid } from '../fields.js';
import { settleSni } from '../stream/tls.js';
import { given } from '../stream/transport.js';
import { decodeBase64Text } from '../text/base64.js';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import type { LinkParts } from './link-url.js';
import { rocketTls, rocketTransport, splitRocket } from './rocket.js';
import { readExtras, readTlsQuery, readTransportQuery, writeExtras, writeStreamQuery } from './stream-query.js';

/** `vless://uuid@host:port?…` (XTLS/Xray-core discussion 716). */
export const vlessLinks: LinkCodec<VlessNode> = { schemes: ['vless'], parse: parseVless, format: formatVless };

function parseVless(link: string): VlessNode {
  const parts = splitLink(link);
  const { query } = parts;
  if (parts.userinfo === undefined) return parseVlessRocket(parts);
  const tls = readTlsQuery(query, query.get('security') ?? '');
  const uuid = decodePercent(parts.userinfo);
  return buildVless({ ...parts, uuid, tls, transport: readTransportQuery(query) });
}

/** `vless://BASE64(auto:uuid@host:port)?remarks=…&obfs=…`, the form of Shadowrocket. */
function parseVlessRocket(parts: LinkParts): VlessNode {
  const { query } = parts;
  const text = decodeBase64Text(decodePercent(parts.authority));
  if (text === undefined) throw missing('uuid');
  const node = buildVless({ ...parts, ...splitRocket(text), tls: rocketTls(query), transport: rocketTransport(query) });
  const flow = node.flow ?? FLOWS[query.get('xtls') ?? ''];
  return flow === undefined ? node : { ...node, flow };
}

/** Shadowrocket's numbers for the flows of XTLS. */
const FLOWS: Partial<Record<string, string>> = { '1': 'xtls-rprx-direct', '2': 'xtls-rprx-vision' };

interface VlessParts extends Pick<LinkParts, 'authority' | 'query' | 'name'> {
  uuid: string;
  tls: NodeTls | undefined;
  transport: NodeTransport | undefined;
}

function buildVless({ authority, query, name, uuid, tls, transport }: VlessParts): VlessNode {
  const { server, port } = readEndpoint(authority, 443);
  const node: VlessNode = {
    type: 'vless',
    name: readName(name ?? query.get('remarks'), server, port),
    server,
    port,
    uuid: readUuid(uuid),
    ...given('flow', notNone(query.get('flow'))),
    ...given('encryption', notNone(query.get('encryption'))),
    ...given('packetEncoding', query.get('packetencoding', 'packet-encoding')),
    ...readExtras(query),
  };
  settleSni(tls, server, transport);
  if (tls !== undefined) node.tls = tls;
  if (transport !== undefined) node.transport = transport;
  return node;
}

function notNone(value: string | undefined): string | undefined {
  return value === 'none' ? undefined : value;
}

function formatVless(node: VlessNode): string {
  const query = {
    encryption: node.encryption ?? 'none',
    flow: node.flow,
    packetEncoding: node.packetEncoding,
    ...writeStreamQuery(node, true),
    ...writeExtras(node),
  };
  return joinLink('vless', encodePercent(node.uuid), node, query, node.name);
}
