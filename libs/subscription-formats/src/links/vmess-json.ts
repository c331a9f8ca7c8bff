import type { NodeTls, NodeTransport, VmessNode } from '@gatehouse/contracts';
import { FormatError, invalid, missing } from '../errors.js';
import { readCount, readName, readPort, readServer, readSwitch, readUuid } from '../fields.js';
import { buildTls, explicitSni, settleSni, tlsFields } from '../stream/tls.js';
import { buildTransport, given, transportFields } from '../stream/transport.js';
import type { TransportFields } from '../stream/transport.js';
import { readVmessCipher } from '../stream/vmess.js';
import { encodeBase64 } from '../text/base64.js';
import { splitList } from '../text/split-list.js';

type Fields = (key: string) => string | undefined;

/** Reads the JSON of v2rayN (wiki: "share link format", version 2). Numbers may be texts, and texts numbers. */
export function parseVmessJson(text: string, label: string | undefined): VmessNode {
  const get = fieldReader(text);
  const address = get('add');
  if (address === undefined) throw missing('add');
  const server = readServer(address, 'add');
  const port = readPort(get('port'));
  const node: VmessNode = {
    type: 'vmess',
    name: readName(get('ps') ?? get('remark') ?? label, server, port),
    server,
    port,
    uuid: readUuid(get('id') ?? '', 'id'),
    alterId: readCount(get('aid'), 'aid') ?? 0,
    cipher: readVmessCipher(get('scy') ?? get('security')),
    ...given('packetEncoding', get('packetEncoding')),
    ...given('udp', readSwitch(get('udp'), 'udp')),
    ...given('dialerProxy', get('dialer-proxy')),
  };
  const tls = readTls(get);
  const transport = buildTransport(readTransportFields(get));
  settleSni(tls, server, transport);
  if (tls !== undefined) node.tls = tls;
  if (transport !== undefined) node.transport = transport;
  return node;
}

function fieldReader(text: string): Fields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new FormatError('invalid_json', 'the JSON in the link cannot be read', { cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new FormatError('invalid_json', 'the JSON in the link is not an object');
  }
  const fields = parsed as Record<string, unknown>;
  return (key) => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (value === undefined || value === null || value === '') return undefined;
    if (Array.isArray(value)) return value.map(String).join(',');
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw invalid(key, 'a text or a number');
  };
}

function readTls(get: Fields): NodeTls | undefined {
  const security = (get('tls') ?? '').toLowerCase();
  return buildTls({
    security:
      security === 'true' || security === '1' ? 'tls' : security === 'false' || security === '0' ? '' : security,
    sni: get('sni') ?? get('peer'),
    alpn: splitList(get('alpn')),
    clientFingerprint: get('fp'),
    skipCertVerify: readSwitch(get('insecure') ?? get('allowInsecure') ?? get('skip-cert-verify'), 'allowInsecure'),
    fingerprint: get('pcs'),
    publicKey: security === 'reality' ? get('pbk') : undefined,
    shortId: get('sid'),
    spiderX: get('spx'),
    ech: get('ech'),
    certificate: get('certificate'),
    privateKey: get('private-key'),
  });
}

/** The meaning of `type`, `host` and `path` depends on the transport. */
function readTransportFields(get: Fields): TransportFields {
  const kind = (get('net') ?? '').toLowerCase();
  const [host, path, type] = [get('host'), get('path'), get('type')];
  const same = { kind, headers: get('headers') };
  switch (kind) {
    case 'grpc':
      return { ...same, serviceName: path, mode: type, authority: get('authority') ?? host };
    case 'kcp':
    case 'mkcp':
      return { ...same, seed: path, headerType: type };
    case 'quic':
      return { ...same, quicSecurity: host, key: path, headerType: type };
    case 'xhttp':
    case 'splithttp':
      return { ...same, host, path, mode: type, extra: get('extra') };
    // v2rayN writes `tcp` with `type: http` for the disguise; `http` is HTTP/2.
    default:
      return {
        ...same,
        host,
        path,
        headerType: type,
        method: get('method'),
        earlyData: get('ed'),
        earlyDataHeader: get('eh'),
      };
  }
}

/** Writes v2rayN's JSON in base64; options without a key of its own have the names of vless links. */
export function formatVmessJson(node: VmessNode): string {
  const tls = tlsFields(node.tls);
  const json = {
    v: '2',
    ps: node.name,
    add: node.server,
    port: String(node.port),
    id: node.uuid,
    aid: String(node.alterId),
    scy: node.cipher,
    ...writeTransport(node.transport),
    tls: node.tls === undefined ? '' : tls.security,
    sni: explicitSni(node.tls, node.server, node.transport) ?? '',
    alpn: tls.alpn?.join(',') ?? '',
    fp: tls.clientFingerprint ?? '',
    ...(tls.skipCertVerify === true ? { insecure: '1' } : {}),
    ...given('pcs', tls.fingerprint),
    ...given('pbk', tls.publicKey),
    ...given('sid', tls.shortId),
    ...given('spx', tls.spiderX),
    ...given('ech', tls.ech),
    ...given('certificate', tls.certificate),
    ...given('private-key', tls.privateKey),
    ...given('packetEncoding', node.packetEncoding),
    ...given('dialer-proxy', node.dialerProxy),
    ...(node.udp === undefined ? {} : { udp: node.udp }),
  };
  return `vmess://${encodeBase64(JSON.stringify(json))}`;
}

function writeTransport(transport: NodeTransport | undefined): Record<string, string> {
  const fields = transportFields(transport);
  const words = { net: fields.kind === 'http' ? 'h2' : fields.kind, ...given('headers', fields.headers) };
  switch (fields.kind) {
    case 'grpc':
      return {
        ...words,
        type: fields.mode ?? '',
        path: fields.serviceName ?? '',
        ...given('authority', fields.authority),
      };
    case 'kcp':
      return { ...words, type: fields.headerType ?? 'none', path: fields.seed ?? '' };
    case 'quic':
      return {
        ...words,
        type: fields.headerType ?? 'none',
        host: fields.quicSecurity ?? 'none',
        path: fields.key ?? '',
      };
    case 'xhttp':
      return {
        ...words,
        type: fields.mode ?? '',
        host: fields.host ?? '',
        path: fields.path ?? '',
        ...given('extra', fields.extra),
      };
    default:
      return {
        ...words,
        type: fields.headerType ?? 'none',
        host: fields.host ?? '',
        path: fields.path ?? '',
        ...given('method', fields.method),
        ...given('ed', fields.earlyData),
        ...given('eh', fields.earlyDataHeader),
      };
  }
}
