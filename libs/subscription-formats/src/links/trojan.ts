import type { TrojanNode } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { readName, readSecret } from '../fields.js';
import { settleSni } from '../stream/tls.js';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import { readExtras, readTlsQuery, readTransportQuery, writeExtras, writeStreamQuery } from './stream-query.js';

/** `trojan://password@host:port?…`, with the WebSocket, gRPC and REALITY parameters of Xray links. */
export const trojanLinks: LinkCodec<TrojanNode> = {
  schemes: ['trojan', 'trojan-go'],
  parse: parseTrojan,
  format: formatTrojan,
};

function parseTrojan(link: string): TrojanNode {
  const { userinfo, authority, query, name } = splitLink(link);
  const { server, port } = readEndpoint(authority, 443);
  const encryption = query.get('encryption');
  if (encryption !== undefined && encryption !== 'none') {
    throw new FormatError('unsupported_option', 'the Shadowsocks layer of trojan-go is not supported', {
      field: 'encryption',
    });
  }
  const tls = readTlsQuery(query, query.get('security') ?? 'tls');
  if (tls === undefined) {
    throw new FormatError('unsupported_security', 'Trojan without TLS is not supported', { field: 'security' });
  }
  settleSni(tls, server);
  const node: TrojanNode = {
    type: 'trojan',
    name: readName(name ?? query.get('remarks'), server, port),
    server,
    port,
    password: readSecret(decodePercent(userinfo ?? ''), 'password'),
    tls,
    ...readExtras(query),
  };
  const transport = readTransportQuery(query);
  if (transport !== undefined) node.transport = transport;
  return node;
}

function formatTrojan(node: TrojanNode): string {
  const query = { ...writeStreamQuery(node, false), ...writeExtras(node) };
  return joinLink('trojan', encodePercent(node.password), node, query, node.name);
}
