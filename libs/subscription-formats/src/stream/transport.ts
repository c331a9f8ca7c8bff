import type { NodeTransport } from '@gatehouse/contracts';
import { FormatError, invalid } from '../errors.js';
import { readCount } from '../fields.js';
import { splitList } from '../text/split-list.js';

/** The options of a transport as text formats write them. Empty means absent. */
export interface TransportFields {
  kind: string;
  host?: string | undefined;
  path?: string | undefined;
  /** On TCP `http` is the HTTP/1.1 disguise; on kcp and quic this is the packet disguise. */
  headerType?: string | undefined;
  serviceName?: string | undefined;
  mode?: string | undefined;
  authority?: string | undefined;
  seed?: string | undefined;
  quicSecurity?: string | undefined;
  key?: string | undefined;
  extra?: string | undefined;
  method?: string | undefined;
  earlyData?: string | undefined;
  earlyDataHeader?: string | undefined;
  /** JSON object of more headers. */
  headers?: string | undefined;
}

const EARLY_DATA = /^ed=(\d{1,9})$/;
export const EARLY_DATA_HEADER = 'Sec-WebSocket-Protocol';

/** Builds the transport in its canonical form; undefined is raw TCP. */
export function buildTransport(fields: TransportFields): NodeTransport | undefined {
  switch (fields.kind.toLowerCase()) {
    case '':
    case 'tcp':
    case 'raw':
    case 'none':
    case 'original':
    case 'plain':
      return fields.headerType === 'http' ? buildHttp(fields) : undefined;
    case 'ws':
    case 'websocket':
      return buildWs(fields);
    case 'httpupgrade':
      return { type: 'httpupgrade', path: splitEarlyData(fields.path).path, ...headersOf(fields) };
    case 'grpc':
    case 'gun':
      return buildGrpc(fields);
    case 'h2':
    case 'http':
      return buildH2(fields);
    case 'xhttp':
    case 'splithttp':
      return buildXhttp(fields);
    case 'kcp':
    case 'mkcp':
      return { type: 'kcp', ...given('seed', fields.seed), ...given('headerType', notNone(fields.headerType)) };
    case 'quic':
      return {
        type: 'quic',
        ...given('security', notNone(fields.quicSecurity)),
        ...given('key', fields.key),
        ...given('headerType', notNone(fields.headerType)),
      };
    default:
      throw new FormatError('unsupported_transport', 'the transport is not known', { field: 'network' });
  }
}

/** `{ [key]: value }`, or nothing when the value is absent or empty. */
export function given<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  const part: Partial<Record<K, V>> = {};
  if (value !== undefined && value !== '') part[key] = value;
  return part;
}

/** `none` means absent. */
function notNone(value: string | undefined): string | undefined {
  return value === 'none' ? undefined : value;
}

export function slashPath(path: string | undefined): string {
  if (path === undefined || path === '') return '/';
  return path.startsWith('/') ? path : `/${path}`;
}

/** Removes `ed=` from the query of a WebSocket path, where v2rayNG and mihomo put it. The first one counts. */
export function splitEarlyData(raw: string | undefined): { path: string; earlyData?: number } {
  const path = slashPath(raw);
  const mark = path.indexOf('?');
  if (mark === -1 || !path.includes('ed=', mark)) return { path };
  const pairs = path.slice(mark + 1).split('&');
  const rest = pairs.filter((pair) => !EARLY_DATA.test(pair));
  if (rest.length === pairs.length) return { path };
  const kept = rest.length === 0 ? path.slice(0, mark) : `${path.slice(0, mark)}?${rest.join('&')}`;
  const earlyData = Number(pairs.find((pair) => EARLY_DATA.test(pair))?.slice(3));
  return earlyData > 0 ? { path: kept, earlyData } : { path: kept };
}

/** Builds the canonical ws transport. Both a header name and an amount in the path enable early data. */
export function wsTransport(
  rawPath: string | undefined,
  headers: Record<string, string>,
  early: { max: number | undefined; header: string | undefined },
): Extract<NodeTransport, { type: 'ws' }> {
  const { path, earlyData } = splitEarlyData(rawPath);
  const transport: Extract<NodeTransport, { type: 'ws' }> = { type: 'ws', path };
  if (Object.keys(headers).length > 0) transport.headers = headers;
  const max = early.max !== undefined && early.max > 0 ? early.max : earlyData;
  if (max === undefined) return transport;
  transport.maxEarlyData = max;
  const header = early.header !== undefined && early.header !== '' ? early.header : undefined;
  const named = header ?? (max === early.max ? undefined : EARLY_DATA_HEADER);
  if (named !== undefined) transport.earlyDataHeaderName = named;
  return transport;
}

function buildWs(fields: TransportFields): NodeTransport {
  const max = readCount(fields.earlyData, 'ws-opts.max-early-data');
  return wsTransport(fields.path, collectHeaders(fields), { max, header: fields.earlyDataHeader });
}

function headersOf(fields: TransportFields): { headers?: Record<string, string> } {
  const headers = collectHeaders(fields);
  return Object.keys(headers).length > 0 ? { headers } : {};
}

function collectHeaders(fields: TransportFields): Record<string, string> {
  const headers = parseHeaderJson(fields.headers, (value) => (typeof value === 'string' ? value : undefined));
  if (fields.host !== undefined && fields.host !== '') headers['Host'] = fields.host;
  return headers;
}

function parseHeaderJson<V>(json: string | undefined, pick: (value: unknown) => V | undefined): Record<string, V> {
  const headers: Record<string, V> = {};
  if (json === undefined || json === '') return headers;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new FormatError('invalid_json', 'headers must be a JSON object', { field: 'headers', cause });
  }
  if (typeof parsed !== 'object' || parsed === null) throw invalid('headers', 'a JSON object');
  for (const [name, value] of Object.entries(parsed)) {
    const picked = pick(value);
    if (picked === undefined || name === '__proto__') throw invalid('headers', 'a JSON object of texts');
    headers[name] = picked;
  }
  return headers;
}

function buildGrpc(fields: TransportFields): NodeTransport {
  const serviceName = fields.serviceName !== undefined && fields.serviceName !== '' ? fields.serviceName : fields.path;
  const transport: Extract<NodeTransport, { type: 'grpc' }> = { type: 'grpc', serviceName: serviceName ?? '' };
  if (fields.mode === 'multi') transport.multiMode = true;
  return { ...transport, ...given('authority', fields.authority) };
}

function buildH2(fields: TransportFields): NodeTransport {
  const hosts = splitList(fields.host) ?? [];
  const path = slashPath(fields.path);
  return hosts.length > 0 ? { type: 'h2', hosts, path } : { type: 'h2', path };
}

function buildHttp(fields: TransportFields): NodeTransport {
  const headers = parseHeaderJson(fields.headers, (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined,
  );
  const hosts = splitList(fields.host) ?? [];
  if (hosts.length > 0) headers['Host'] = hosts;
  return httpTransport(fields.method, splitList(fields.path) ?? [], headers);
}

/** HTTP/1.1 disguise in its canonical form: `GET` and `/` are the defaults, and left out. */
export function httpTransport(
  method: string | undefined,
  paths: string[],
  headers: Record<string, string[]>,
): Extract<NodeTransport, { type: 'http' }> {
  const transport: Extract<NodeTransport, { type: 'http' }> = { type: 'http' };
  const verb = (method ?? '').toUpperCase();
  if (verb !== '' && verb !== 'GET') transport.method = verb;
  const path = paths.map((item) => slashPath(item));
  if (path.length > 1 || (path.length === 1 && path[0] !== '/')) transport.path = path;
  if (Object.keys(headers).length > 0) transport.headers = headers;
  return transport;
}

function buildXhttp(fields: TransportFields): NodeTransport {
  return {
    type: 'xhttp',
    path: slashPath(fields.path),
    ...given('host', fields.host),
    ...given('mode', fields.mode === 'auto' ? undefined : fields.mode),
    ...given('extra', fields.extra),
  };
}

/** The opposite of `buildTransport`. */
export function transportFields(transport: NodeTransport | undefined): TransportFields {
  if (transport === undefined) return { kind: 'tcp' };
  switch (transport.type) {
    case 'ws':
      return wsFields(transport);
    case 'httpupgrade':
      return { kind: 'httpupgrade', path: transport.path, ...splitHeaders(transport.headers) };
    case 'grpc':
      return {
        kind: 'grpc',
        serviceName: transport.serviceName,
        mode: transport.multiMode === true ? 'multi' : 'gun',
        authority: transport.authority,
      };
    case 'h2':
      return { kind: 'http', host: transport.hosts?.join(','), path: transport.path };
    case 'http':
      return httpFields(transport);
    case 'xhttp':
      return {
        kind: 'xhttp',
        path: transport.path,
        host: transport.host,
        mode: transport.mode,
        extra: transport.extra,
      };
    case 'kcp':
      return { kind: 'kcp', seed: transport.seed, headerType: transport.headerType };
    case 'quic':
      return {
        kind: 'quic',
        quicSecurity: transport.security,
        key: transport.key,
        headerType: transport.headerType,
      };
  }
}

function wsFields(transport: Extract<NodeTransport, { type: 'ws' }>): TransportFields {
  const fields: TransportFields = { kind: 'ws', path: transport.path, ...splitHeaders(transport.headers) };
  if (transport.maxEarlyData === undefined) return fields;
  if (transport.earlyDataHeaderName === EARLY_DATA_HEADER) {
    const sign = transport.path.includes('?') ? '&' : '?';
    return { ...fields, path: `${transport.path}${sign}ed=${transport.maxEarlyData}` };
  }
  return { ...fields, earlyData: String(transport.maxEarlyData), earlyDataHeader: transport.earlyDataHeaderName };
}

function splitHeaders(headers: Record<string, string> | undefined): { host?: string; headers?: string } {
  const { Host: host, ...rest } = headers ?? {};
  return {
    ...given('host', host),
    ...(Object.keys(rest).length > 0 ? { headers: JSON.stringify(rest) } : {}),
  };
}

function httpFields(transport: Extract<NodeTransport, { type: 'http' }>): TransportFields {
  const { Host: hosts, ...rest } = transport.headers ?? {};
  return {
    kind: 'tcp',
    headerType: 'http',
    method: transport.method,
    path: transport.path?.join(','),
    host: hosts?.join(','),
    ...(Object.keys(rest).length > 0 ? { headers: JSON.stringify(rest) } : {}),
  };
}
