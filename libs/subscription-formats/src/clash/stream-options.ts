import type { NodeTls, NodeTransport } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { buildTls } from '../stream/tls.js';
import { buildTransport, given, httpTransport, slashPath, splitEarlyData, wsTransport } from '../stream/transport.js';
import type { ClashEntry } from './entry.js';
import { readXhttpExtra, writeXhttpExtra } from './xhttp-options.js';

type Options = Record<string, unknown>;

/** TLS options of an entry. The type decides which key has the server name: `sni` or `servername`. */
export function readClashTls(entry: ClashEntry, always: boolean): NodeTls | undefined {
  const reality = entry.map('reality-opts');
  const on = always || entry.flag('tls') === true;
  const ech = entry.map('ech-opts');
  return buildTls({
    security: !on ? 'none' : reality.has('public-key') ? 'reality' : 'tls',
    sni: entry.text('servername', 'sni', 'peer'),
    alpn: entry.list('alpn')?.filter((item) => item !== ''),
    clientFingerprint: entry.text('client-fingerprint'),
    skipCertVerify: entry.flag('skip-cert-verify'),
    fingerprint: entry.text('fingerprint'),
    publicKey: reality.text('public-key'),
    shortId: reality.text('short-id'),
    spiderX: reality.text('spider-x'),
    ech: ech.flag('enable') === false ? undefined : ech.text('config'),
    certificate: entry.text('certificate'),
    privateKey: entry.text('private-key'),
  });
}

export function writeClashTls(
  tls: NodeTls | undefined,
  keys: { serverName: 'sni' | 'servername'; sni: string | undefined; switch: boolean },
): Options {
  if (tls === undefined) return {};
  return {
    ...(keys.switch ? { tls: true } : {}),
    ...given(keys.serverName, keys.sni),
    ...given('alpn', tls.alpn),
    ...given('skip-cert-verify', tls.skipCertVerify),
    ...given('fingerprint', tls.fingerprint),
    ...given('client-fingerprint', tls.clientFingerprint),
    ...(tls.reality === undefined ? {} : { 'reality-opts': writeReality(tls.reality) }),
    ...given('certificate', tls.certificate),
    ...given('private-key', tls.privateKey),
    ...(tls.ech === undefined ? {} : { 'ech-opts': { enable: true, config: tls.ech } }),
  };
}

function writeReality(reality: NonNullable<NodeTls['reality']>): Options {
  return {
    'public-key': reality.publicKey,
    ...given('short-id', reality.shortId),
    ...given('spider-x', reality.spiderX),
  };
}

export function readClashTransport(entry: ClashEntry): NodeTransport | undefined {
  const network = entry.text('network')?.toLowerCase() ?? 'tcp';
  switch (network) {
    case 'tcp':
      return undefined;
    case 'ws':
    case 'httpupgrade':
      return readWs(entry, network === 'httpupgrade');
    case 'grpc':
      return readGrpc(entry.map('grpc-opts'));
    case 'h2':
      return readH2(entry.map('h2-opts'));
    case 'http':
      return readHttp(entry.map('http-opts'));
    case 'xhttp':
    case 'kcp':
    case 'quic':
      return readRest(network, entry.map(`${network}-opts`));
    default:
      throw new FormatError('unsupported_transport', 'network is not known', { field: 'network' });
  }
}

function readWs(entry: ClashEntry, upgrade: boolean): NodeTransport {
  const options = entry.map('ws-opts');
  const path = options.text('path') ?? entry.text('ws-path');
  const headers = readHeaders(options.has('headers') ? options.map('headers') : entry.map('ws-headers'));
  if (upgrade || options.flag('v2ray-http-upgrade') === true) {
    const bare = splitEarlyData(path).path;
    return Object.keys(headers).length > 0
      ? { type: 'httpupgrade', path: bare, headers }
      : { type: 'httpupgrade', path: bare };
  }
  return wsTransport(path, headers, {
    max: options.count('max-early-data'),
    header: options.text('early-data-header-name'),
  });
}

/** Header values by name. `host` in any case becomes `Host`. */
export function readHeaders(entry: ClashEntry): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const key of entry.keys()) headers[key.toLowerCase() === 'host' ? 'Host' : key] = entry.text(key) ?? '';
  if (headers['Host'] === '') delete headers['Host'];
  return headers;
}

function readGrpc(options: ClashEntry): NodeTransport {
  return buildTransportOf('grpc', {
    serviceName: options.text('grpc-service-name'),
    mode: options.text('grpc-mode'),
    authority: options.text('grpc-authority'),
  });
}

function readH2(options: ClashEntry): NodeTransport {
  const hosts = options.list('host')?.filter((host) => host !== '') ?? [];
  const path = slashPath(options.text('path'));
  return hosts.length > 0 ? { type: 'h2', hosts, path } : { type: 'h2', path };
}

function readHttp(options: ClashEntry): NodeTransport {
  const headers: Record<string, string[]> = {};
  const map = options.map('headers');
  for (const key of map.keys()) headers[key.toLowerCase() === 'host' ? 'Host' : key] = map.list(key) ?? [];
  return httpTransport(options.text('method'), options.list('path') ?? [], headers);
}

function readRest(kind: 'xhttp' | 'kcp' | 'quic', options: ClashEntry): NodeTransport {
  return buildTransportOf(kind, {
    path: options.text('path'),
    host: options.text('host'),
    mode: options.text('mode'),
    extra: kind === 'xhttp' ? readXhttpExtra(options) : undefined,
    seed: options.text('seed'),
    headerType: options.text('header-type'),
    quicSecurity: options.text('security'),
    key: options.text('key'),
  });
}

function buildTransportOf(kind: string, fields: Omit<Parameters<typeof buildTransport>[0], 'kind'>): NodeTransport {
  const transport = buildTransport({ kind, ...fields });
  if (transport === undefined)
    throw new FormatError('unsupported_transport', 'network is not known', { field: 'network' });
  return transport;
}

/** The opposite of `readClashTransport`. Clash has no kcp and quic; they are written in the same style. */
export function writeClashTransport(transport: NodeTransport | undefined): Options {
  if (transport === undefined) return {};
  switch (transport.type) {
    case 'ws':
      return { network: 'ws', 'ws-opts': writeWs(transport) };
    case 'httpupgrade':
      return {
        network: 'ws',
        'ws-opts': { path: transport.path, ...given('headers', transport.headers), 'v2ray-http-upgrade': true },
      };
    case 'grpc':
      return {
        network: 'grpc',
        'grpc-opts': {
          'grpc-service-name': transport.serviceName,
          ...(transport.multiMode === true ? { 'grpc-mode': 'multi' } : {}),
          ...given('grpc-authority', transport.authority),
        },
      };
    case 'h2':
      return { network: 'h2', 'h2-opts': { ...given('host', transport.hosts), path: transport.path } };
    case 'http':
      return { network: 'http', 'http-opts': without(transport, 'type') };
    case 'xhttp':
      return { network: 'xhttp', 'xhttp-opts': writeXhttp(transport) };
    case 'kcp':
      return { network: 'kcp', 'kcp-opts': { ...given('seed', transport.seed), ...headerType(transport) } };
    case 'quic':
      return {
        network: 'quic',
        'quic-opts': {
          ...given('security', transport.security),
          ...given('key', transport.key),
          ...headerType(transport),
        },
      };
  }
}

function writeWs(transport: Extract<NodeTransport, { type: 'ws' }>): Options {
  return {
    path: transport.path,
    ...given('headers', transport.headers),
    ...given('max-early-data', transport.maxEarlyData),
    ...given('early-data-header-name', transport.earlyDataHeaderName),
  };
}

function writeXhttp({ type: _type, extra, ...rest }: Extract<NodeTransport, { type: 'xhttp' }>): Options {
  return { ...rest, ...writeXhttpExtra(extra) };
}

function headerType(transport: { headerType?: string }): Options {
  return given('header-type', transport.headerType);
}

function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _left, ...rest } = value;
  return rest;
}
