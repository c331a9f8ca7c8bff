import type { NodeTls, NodeTransport, VmessNode } from '@gatehouse/contracts';
import { readCount, readName, readUuid } from '../fields.js';
import { settleSni } from '../stream/tls.js';
import { given } from '../stream/transport.js';
import { readVmessCipher } from '../stream/vmess.js';
import { decodePercent } from '../text/percent.js';
import { readEndpoint } from './link-url.js';
import type { LinkParts } from './link-url.js';
import { rocketTls, rocketTransport, splitRocket } from './rocket.js';
import { readExtras, readTlsQuery, readTransportQuery } from './stream-query.js';

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
  const { method: cipher, uuid, authority } = splitRocket(text);
  const user = { cipher, uuid, alterId: query.get('alterid', 'aid') };
  return buildVmess(parts, authority, user, rocketTls(query), rocketTransport(query));
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
