import type { NodeTls, ProxyNode } from '@gatehouse/contracts';
import { fingerprintNode } from '../fingerprint.js';
import { Unsayable } from './target.js';

type Plain = Record<string, unknown>;

/** What WireGuard sends through a peer when nothing is said. */
const ALL_ADDRESSES = '0.0.0.0/0,::/0';
/** Types whose TLS works without ALPN: it is a hint there. */
const OVER_TCP: ReadonlySet<string> = new Set(['socks5', 'http', 'trojan', 'vmess', 'vless', 'anytls']);

/**
 * The options that a written node no longer has.
 * @param back the node as it is read from what was written.
 * @throws Unsayable if it would connect to something else, or protect the traffic less.
 */
export function lostOptions(node: ProxyNode, back: ProxyNode): string[] {
  const [before, after] = [canonical(node), canonical(back)];
  const lost = differences(before, after);
  if (fingerprintNode(identity(before)) === fingerprintNode(identity(after))) return lost;
  throw new Unsayable(lost.find((field) => !LOCAL.test(field)) ?? 'name');
}

/** Fields that do not identify the server. */
const LOCAL =
  /^(?:name|udp|packetEncoding|tls\.(?:alpn|clientFingerprint)|transport\.(?:maxEarlyData|earlyDataHeaderName))$/;

/** One spelling for values that formats write in their own ways. */
function canonical(node: ProxyNode): ProxyNode {
  if (!('options' in node)) return node;
  const options: Plain = { ...node.options };
  for (const key of ['up', 'down']) {
    if (typeof options[key] === 'string') options[key] = options[key].replace(/\s*mbps$/i, '');
  }
  if (typeof options['ports'] === 'string') options['ports'] = options['ports'].replaceAll(/\b(\d+)-\1\b/g, '$1');
  if (String(options['allowed-ips']) === ALL_ADDRESSES) delete options['allowed-ips'];
  return { ...node, options };
}

/** The node without what only concerns the client: servers take it with or without. */
function identity(node: ProxyNode): ProxyNode {
  if ('options' in node) {
    const options: Plain = { ...node.options };
    if (OVER_TCP.has(node.type) || String(options['alpn']) === 'h3') delete options['alpn'];
    return { ...node, options };
  }
  const same: ProxyNode =
    node.type === 'vmess' && node.cipher !== 'none' && node.cipher !== 'zero' ? sealed(node) : node;
  if (!('tls' in same) || same.tls === undefined) return same;
  const tls: NodeTls = { ...same.tls };
  delete tls.alpn;
  return { ...same, tls } as ProxyNode;
}

/** `auto` lets the client choose one of the two authenticated ciphers; servers take both. */
function sealed(node: Extract<ProxyNode, { type: 'vmess' }>): ProxyNode {
  return ['auto', 'aes-128-gcm', 'chacha20-poly1305'].includes(node.cipher) ? { ...node, cipher: 'auto' } : node;
}

function differences(before: unknown, after: unknown): string[] {
  const [one, other] = [flat(before), flat(after)];
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].filter((path) => one.get(path) !== other.get(path));
}

/** The values of a node by their paths, such as `tls.sni`. */
function flat(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return found.set(path, JSON.stringify(value));
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) flat(inner, path === '' ? key : `${path}.${key}`, found);
  }
  return found;
}
