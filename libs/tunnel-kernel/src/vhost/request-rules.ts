import { readAuthority } from './authority.js';
import { dropNamedByConnection, sortFields, type RequestFields } from './request-fields.js';
import { readTarget, type RequestTarget } from './request-target.js';

/** A request as a parser delivers it. */
export interface RawRequest {
  method: string;
  /** `1.0`, `1.1` or `h2`; anything else is refused. */
  version: string;
  /** Request target of HTTP/1, `:path` of HTTP/2. */
  target: string;
  /** `:authority` of HTTP/2; null in HTTP/1. */
  authority: string | null;
  /** `:protocol` of an extended CONNECT (RFC 8441); absent in all other requests. */
  protocol?: string | null;
  /** Name, value, name, value … as received. */
  fields: readonly string[];
}

/** A request that has only one meaning. */
export interface RequestHead {
  method: string;
  version: string;
  /** The host as the visitor wrote it, with its port. */
  authority: string;
  /** The same in the form for lookups. */
  host: string;
  target: RequestTarget;
  fields: RequestFields;
  /** Size of the head in the form of HTTP/1.1, in bytes. */
  bytes: number;
  /** According to its fields; HTTP/2 need not announce it. */
  hasBody: boolean;
  /** The protocol to switch to; null: none. */
  upgrade: string | null;
}

export interface BadRequest {
  status: 400 | 405 | 417 | 431 | 501;
  /** Short, for `X-Gw-Error`. */
  error: string;
}

const MAX_FIELDS = 256;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/i;
/** Other protocols are refused: HTTP/2 that began this way would bypass every rule. */
const UPGRADE_TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:\/[A-Za-z0-9!#$%&'*+.^_`|~-]+)?$/;
const NOT_TO_BE_UPGRADED = /^(?:h2c?|http\/.*|tls\/.*)$/i;

/**
 * Parses a request, or says why it is refused: anything that two servers could understand differently is not passed on.
 * The request to the target is written from this result alone.
 */
export function readRequest(raw: RawRequest): RequestHead | BadRequest {
  if (raw.version !== '1.1' && raw.version !== '1.0' && raw.version !== 'h2') return bad('version');
  if (raw.method === 'TRACE' || (raw.method === 'CONNECT' && !raw.protocol)) return { status: 405, error: 'method' };
  if ((raw.protocol ?? 'websocket') !== 'websocket') return { status: 501, error: 'protocol' };
  if (raw.fields.length > 2 * MAX_FIELDS) return { status: 431, error: 'too_many_fields' };
  const fields = sortFields(raw.fields);
  if (fields.repeated) return bad('repeated_field');
  const framing = checkFraming(raw, fields);
  if (framing) return framing;
  if (!dropNamedByConnection(fields)) return bad('connection');
  const asked = readWhere(raw, fields);
  if ('status' in asked) return asked;
  return {
    // An extended CONNECT corresponds to a GET with an upgrade in HTTP/1.1.
    method: raw.protocol ? 'GET' : raw.method,
    version: raw.version,
    ...asked,
    fields,
    bytes: raw.method.length + raw.target.length + fields.bytes + 14,
    hasBody: hasBody(fields),
    upgrade: readUpgrade(raw, fields),
  };
}

function checkFraming({ version }: RawRequest, fields: RequestFields): BadRequest | null {
  const { transferEncoding, contentLength, expect } = fields;
  if (transferEncoding !== null) {
    if (version !== '1.1') return bad('transfer_encoding');
    if (transferEncoding.toLowerCase() !== 'chunked') return { status: 501, error: 'transfer_encoding' };
    if (contentLength !== null) return bad('length');
  }
  if (contentLength !== null && !/^\d{1,15}$/.test(contentLength)) return bad('length');
  if (expect !== null && expect.toLowerCase() !== '100-continue') return { status: 417, error: 'expect' };
  return null;
}

type Where = Pick<RequestHead, 'authority' | 'host' | 'target'>;

function readWhere(raw: RawRequest, fields: RequestFields): Where | BadRequest {
  let said = raw.authority ?? fields.host;
  let text = raw.target;
  if (text.charCodeAt(0) !== 47) {
    const absolute = raw.authority === null ? ABSOLUTE_FORM.exec(text) : null;
    if (!absolute) return bad('target');
    const rest = absolute[2] ?? '';
    text = rest.startsWith('/') ? rest : `/${rest}`;
    said = absolute[1] ?? '';
    // RFC 9112 3.2.2 allows ignoring `Host` here. A server behind this one may not ignore it, so the two must agree.
    if (fields.host === null) return bad('host');
  }
  const authority = said === null ? null : readAuthority(said);
  if (said === null || authority === null) return bad('host');
  if (fields.host !== null && fields.host !== said && !sameAuthority(fields.host, said)) return bad('host');
  const target = readTarget(text);
  return target ? { authority: said, host: authority.host, target } : bad('target');
}

function sameAuthority(one: string, other: string): boolean {
  const [a, b] = [readAuthority(one), readAuthority(other)];
  return a !== null && b !== null && a.host === b.host && a.port === b.port;
}

/** Null also for an unsupported upgrade; the request is then handled normally (RFC 9110 7.8). */
function readUpgrade({ method, version, protocol }: RawRequest, fields: RequestFields): string | null {
  if (protocol) return protocol;
  const { upgrade, connection } = fields;
  if (upgrade === null || connection === null || method !== 'GET' || version !== '1.1' || hasBody(fields)) return null;
  if (!UPGRADE_TOKEN.test(upgrade) || NOT_TO_BE_UPGRADED.test(upgrade)) return null;
  const options = connection.toLowerCase().split(',');
  return options.some((option) => option.trim() === 'upgrade') ? upgrade : null;
}

function hasBody({ transferEncoding, contentLength }: RequestFields): boolean {
  return transferEncoding !== null || (contentLength ?? '0') !== '0';
}

function bad(error: string): BadRequest {
  return { status: 400, error };
}
