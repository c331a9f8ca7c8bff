import type { NodeTls, ProxyNode } from '@gatehouse/contracts';
import { explicitSni } from '../stream/tls.js';
import { mark, pair, quoted, type LineParts } from './line-values.js';
import { Unsayable } from './target.js';

/** How a client's lines name the options of TLS. */
export interface TlsNames {
  sni: string;
  pin: string;
  /** The names of REALITY's options, where the client has it. */
  reality?: { publicKey: string; shortId: string };
}

const UNSAYABLE_TLS = ['certificate', 'privateKey', 'ech'] as const;

/** The server name that has to be written. */
export function lineSni(node: ProxyNode): string | undefined {
  if (!('tls' in node) || node.tls === undefined) return undefined;
  const named = node.type === 'vmess' || node.type === 'vless';
  return named ? explicitSni(node.tls, node.server, node.transport) : node.tls.sni;
}

/** TLS options of a line besides the switch. @throws Unsayable */
export function lineTlsParts(node: ProxyNode, tls: NodeTls | undefined, names: TlsNames): LineParts {
  if (tls === undefined) return [];
  for (const field of UNSAYABLE_TLS) if (tls[field] !== undefined) throw new Unsayable(`tls.${field}`);
  if (tls.reality !== undefined && names.reality === undefined) throw new Unsayable('tls.reality');
  return [
    pair(names.sni, lineSni(node), 'tls.sni'),
    mark('skip-cert-verify', tls.skipCertVerify),
    pair(names.pin, tls.fingerprint, 'tls.fingerprint'),
    names.reality && pair(names.reality.publicKey, tls.reality?.publicKey, 'tls.reality'),
    names.reality && pair(names.reality.shortId, tls.reality?.shortId, 'tls.reality'),
  ];
}

/** TLS options of a node whose options are stored as Clash has them. */
export function storedTlsParts(options: Record<string, unknown>, names: TlsNames): LineParts {
  const text = (key: string): string | undefined => (typeof options[key] === 'string' ? options[key] : undefined);
  return [
    pair(names.sni, text('sni'), 'sni'),
    mark('skip-cert-verify', options['skip-cert-verify'] === true),
    pair(names.pin, text('fingerprint'), 'fingerprint'),
  ];
}

/** `Name: value` pairs in one quoted value. @throws Unsayable if a value has the separator or a quote. */
export function headerPairs(headers: Record<string, string>, separator: string, colon: string): string | undefined {
  const pairs = Object.entries(headers).map(([name, value]) => `${name}${colon}${value}`);
  if (pairs.length === 0) return undefined;
  if (pairs.some((text) => text.includes(separator))) throw new Unsayable('headers');
  const text = quoted(pairs.join(separator), 'headers');
  return text.startsWith('"') ? text : `"${text}"`;
}
