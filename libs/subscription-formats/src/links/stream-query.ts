import type { NodeTls, NodeTransport } from '@gatehouse/contracts';
import { readSwitch } from '../fields.js';
import { buildTls, explicitSni, tlsFields } from '../stream/tls.js';
import type { TlsFields } from '../stream/tls.js';
import { buildTransport, transportFields } from '../stream/transport.js';
import type { TransportFields } from '../stream/transport.js';
import { splitList } from '../text/split-list.js';
import type { LinkQuery } from './link-url.js';

type Query = Record<string, string | undefined>;

/** TLS options of a link's query (XTLS/Xray-core discussion 716, and the names other clients use). */
export function readTlsQuery(query: LinkQuery, security: string): NodeTls | undefined {
  return buildTls(tlsQueryFields(query, security));
}

export function tlsQueryFields(query: LinkQuery, security: string): TlsFields {
  return {
    security,
    sni: query.get('sni', 'peer', 'servername', 'tlsservername'),
    alpn: splitList(query.get('alpn')),
    clientFingerprint: query.get('fp', 'client-fingerprint'),
    skipCertVerify: readSwitch(
      query.get('allowinsecure', 'insecure', 'skip-cert-verify', 'allow_insecure', 'allow-insecure'),
      'allowInsecure',
    ),
    fingerprint: query.get('pcs', 'pinsha256'),
    publicKey: query.get('pbk'),
    shortId: query.get('sid'),
    spiderX: query.get('spx'),
    ech: query.get('ech'),
    certificate: query.get('certificate'),
    privateKey: query.get('private-key'),
  };
}

export function writeTlsQuery(tls: NodeTls | undefined, sni: string | undefined): Query {
  if (tls === undefined) return {};
  const fields = tlsFields(tls);
  return {
    sni,
    alpn: fields.alpn?.join(','),
    fp: fields.clientFingerprint,
    allowInsecure: fields.skipCertVerify === true ? '1' : undefined,
    pcs: fields.fingerprint,
    pbk: fields.publicKey,
    sid: fields.shortId,
    spx: fields.spiderX,
    ech: fields.ech,
    certificate: fields.certificate,
    'private-key': fields.privateKey,
  };
}

export function readTransportQuery(query: LinkQuery): NodeTransport | undefined {
  return buildTransport(transportQueryFields(query));
}

function transportQueryFields(query: LinkQuery): TransportFields {
  const kind = query.get('type', 'network', 'net');
  return {
    kind: kind ?? (hasShortWs(query) ? 'ws' : ''),
    host: query.get('host', 'wshost'),
    path: query.get('path', 'wspath'),
    headerType: query.get('headertype'),
    serviceName: query.get('servicename'),
    mode: query.get('mode'),
    authority: query.get('authority'),
    seed: query.get('seed'),
    quicSecurity: query.get('quicsecurity'),
    key: query.get('key'),
    extra: query.get('extra'),
    method: query.get('method'),
    earlyData: query.get('ed'),
    earlyDataHeader: query.get('eh'),
    headers: query.get('headers'),
  };
}

/** `ws=1`, or just `ws`. */
function hasShortWs(query: LinkQuery): boolean {
  return query.has('ws') && !['0', 'false'].includes(query.get('ws') ?? '');
}

export function writeTransportQuery(transport: NodeTransport | undefined): Query {
  const { kind, headerType, serviceName, quicSecurity, earlyData, earlyDataHeader, ...same } =
    transportFields(transport);
  return { type: kind, headerType, serviceName, quicSecurity, ed: earlyData, eh: earlyDataHeader, ...same };
}

/** TLS and transport together, as vmess, vless and trojan links carry them. */
export function writeStreamQuery(
  node: { server: string; tls?: NodeTls; transport?: NodeTransport },
  hostIsServerName: boolean,
): Query {
  const sni = hostIsServerName ? explicitSni(node.tls, node.server, node.transport) : node.tls?.sni;
  return {
    security: tlsFields(node.tls).security,
    ...writeTlsQuery(node.tls, sni),
    ...writeTransportQuery(node.transport),
  };
}

/** Options without a standard parameter, under their Clash names; other clients ignore them. */
export function readExtras(query: LinkQuery): { udp?: boolean; dialerProxy?: string } {
  const extras: { udp?: boolean; dialerProxy?: string } = {};
  const udp = readSwitch(query.get('udp'), 'udp');
  if (udp !== undefined) extras.udp = udp;
  const dialerProxy = query.get('dialer-proxy');
  if (dialerProxy !== undefined) extras.dialerProxy = dialerProxy;
  return extras;
}

export function writeExtras(node: { udp?: boolean; dialerProxy?: string }): Query {
  return { udp: node.udp === undefined ? undefined : node.udp ? '1' : '0', 'dialer-proxy': node.dialerProxy };
}
