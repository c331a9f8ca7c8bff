import type { NodeTls, NodeTransport } from '@gatehouse/contracts';
import { FormatError, invalid, missing } from '../errors.js';
import { serverNameOf } from '../fields.js';
import { readPins } from './fingerprint.js';

/** TLS options as text formats write them. Empty means absent. */
export interface TlsFields {
  /** `tls`, `reality`, or a word for none. */
  security: string;
  sni?: string | undefined;
  alpn?: string[] | undefined;
  clientFingerprint?: string | undefined;
  skipCertVerify?: boolean | undefined;
  fingerprint?: string | undefined;
  publicKey?: string | undefined;
  shortId?: string | undefined;
  spiderX?: string | undefined;
  ech?: string | undefined;
  certificate?: string | undefined;
  privateKey?: string | undefined;
}

const REALITY_KEY = /^[A-Za-z0-9_-]{43}$/;

/** Builds TLS in its canonical form; undefined is plain. @throws FormatError `unsupported_security` for XTLS and unknown words. */
export function buildTls(fields: TlsFields): NodeTls | undefined {
  const security = fields.security.toLowerCase();
  const reality = security === 'reality' || (security === '' && filled(fields.publicKey));
  if (!reality && (security === '' || security === 'none')) return undefined;
  if (!reality && security !== 'tls') {
    throw new FormatError('unsupported_security', 'security must be none, tls or reality', { field: 'security' });
  }
  const tls: NodeTls = {};
  if (filled(fields.sni)) tls.sni = fields.sni;
  if (fields.alpn !== undefined && fields.alpn.length > 0) tls.alpn = fields.alpn;
  if (fields.skipCertVerify === true) tls.skipCertVerify = true;
  if (filled(fields.fingerprint)) tls.fingerprint = readFingerprint(fields.fingerprint);
  if (filled(fields.clientFingerprint)) tls.clientFingerprint = fields.clientFingerprint;
  if (reality) tls.reality = buildReality(fields);
  if (filled(fields.certificate)) tls.certificate = fields.certificate;
  if (filled(fields.privateKey)) tls.privateKey = fields.privateKey;
  if (filled(fields.ech)) tls.ech = fields.ech;
  return tls;
}

function filled(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function readFingerprint(raw: string): string {
  const pins = readPins(raw);
  if (pins === undefined) throw invalid('fingerprint', 'one SHA-256 or several, in hex or base64');
  return pins;
}

function buildReality(fields: TlsFields): NonNullable<NodeTls['reality']> {
  if (!filled(fields.publicKey)) throw missing('reality-opts.public-key');
  const publicKey = fields.publicKey.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  if (!REALITY_KEY.test(publicKey)) throw invalid('reality-opts.public-key', '32 bytes in base64url');
  const reality: NonNullable<NodeTls['reality']> = { publicKey };
  if (filled(fields.shortId)) {
    const shortId = fields.shortId.toLowerCase();
    if (!/^(?:[0-9a-f]{2}){1,8}$/.test(shortId)) throw invalid('reality-opts.short-id', 'up to 8 bytes in hex');
    reality.shortId = shortId;
  }
  if (filled(fields.spiderX)) reality.spiderX = fields.spiderX;
  return reality;
}

/** The opposite of `buildTls`. */
export function tlsFields(tls: NodeTls | undefined): TlsFields {
  if (tls === undefined) return { security: 'none' };
  return {
    security: tls.reality === undefined ? 'tls' : 'reality',
    sni: tls.sni,
    alpn: tls.alpn,
    clientFingerprint: tls.clientFingerprint,
    skipCertVerify: tls.skipCertVerify,
    fingerprint: tls.fingerprint,
    publicKey: tls.reality?.publicKey,
    shortId: tls.reality?.shortId,
    spiderX: tls.reality?.spiderX,
    ech: tls.ech,
    certificate: tls.certificate,
    privateKey: tls.privateKey,
  };
}

/**
 * Gives `sni` its canonical form: absent when it equals the server. VMess and VLESS over WebSocket without one send their
 * Host header, as mihomo and v2rayN do.
 */
export function settleSni(tls: NodeTls | undefined, server: string, transport?: NodeTransport): void {
  if (tls === undefined) return;
  if (tls.sni !== undefined) {
    tls.sni = tls.sni.toLowerCase();
    if (tls.sni === server) delete tls.sni;
    return;
  }
  const fallback = hostServerName(tls, transport);
  if (fallback !== undefined && fallback !== server) tls.sni = fallback;
}

function hostServerName(tls: NodeTls, transport: NodeTransport | undefined): string | undefined {
  if (tls.reality !== undefined || transport === undefined) return undefined;
  if (transport.type !== 'ws' && transport.type !== 'httpupgrade') return undefined;
  return serverNameOf(transport.headers?.['Host']);
}

/** The server name to write so that reading it back gives the same node; undefined when it is the default. */
export function explicitSni(tls: NodeTls | undefined, server: string, transport?: NodeTransport): string | undefined {
  if (tls === undefined) return undefined;
  return tls.sni ?? (hostServerName(tls, transport) === undefined ? undefined : server);
}
