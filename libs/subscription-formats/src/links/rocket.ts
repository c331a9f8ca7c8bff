import type { NodeTls, NodeTransport } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { readSwitch } from '../fields.js';
import { buildTls } from '../stream/tls.js';
import { buildTransport, given } from '../stream/transport.js';
import type { LinkQuery } from './link-url.js';
import { tlsQueryFields } from './stream-query.js';

/** Parts of the links of Shadowrocket and Kitsunebi, `scheme://BASE64(method:uuid@host:port)?…`. */

export function splitRocket(text: string): { method: string; uuid: string; authority: string } {
  const at = text.lastIndexOf('@');
  const colon = text.indexOf(':');
  if (at === -1 || colon === -1 || colon > at) {
    throw new FormatError('invalid_link', 'the base64 in the link is neither JSON nor method:uuid@host:port');
  }
  return { method: text.slice(0, colon), uuid: text.slice(colon + 1, at), authority: text.slice(at + 1) };
}

export function rocketTls(query: LinkQuery): NodeTls | undefined {
  const secure = readSwitch(query.get('tls'), 'tls') === true;
  return buildTls(tlsQueryFields(query, query.get('security') ?? (secure && !query.has('pbk') ? 'tls' : '')));
}

/** `obfs` is the transport; `obfsParam` a Host, or a JSON object of headers. */
export function rocketTransport(query: LinkQuery): NodeTransport | undefined {
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
