import type { VlessNode } from '@gatehouse/contracts';
import { readName, readUuid } from '../fields.js';
import { settleSni } from '../stream/tls.js';
import { given } from '../stream/transport.js';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import { readExtras, readTlsQuery, readTransportQuery, writeExtras, writeStreamQuery } from './stream-query.js';

/** `vless://uuid@host:port?…` (XTLS/Xray-core discussion 716). */
export const vlessLinks: LinkCodec<VlessNode> = { schemes: ['vless'], parse: parseVless, format: formatVless };

function parseVless(link: string): VlessNode {
  const { userinfo, authority, query, name } = splitLink(link);
  const { server, port } = readEndpoint(authority, 443);
  const node: VlessNode = {
    type: 'vless',
    name: readName(name ?? query.get('remarks'), server, port),
    server,
    port,
    uuid: readUuid(decodePercent(userinfo ?? '')),
    ...given('flow', notNone(query.get('flow'))),
    ...given('encryption', notNone(query.get('encryption'))),
    ...given('packetEncoding', query.get('packetencoding', 'packet-encoding')),
    ...readExtras(query),
  };
  const tls = readTlsQuery(query, query.get('security') ?? '');
  const transport = readTransportQuery(query);
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
