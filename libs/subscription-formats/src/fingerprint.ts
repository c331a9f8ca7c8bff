import { hash } from 'node:crypto';
import type { NodeTls, NodeTransport, OtherNode, ProxyNode } from '@gatehouse/contracts';
import { hostInUrl } from './fields.js';

type Plain = Record<string, unknown>;

/**
 * SHA-256 in hex of what a node connects to: endpoint, credentials, TLS, transport. The name is left out, and so are options
 * that do not concern the server (`udp`, the imitated ClientHello, UDP packet encoding). An option that is set to its default
 * counts as absent.
 */
export function fingerprintNode(node: ProxyNode): string {
  return hash('sha256', canonicalText(identityOf(node)), 'hex');
}

function identityOf(node: ProxyNode): Plain {
  const { name: _name, udp: _udp, ...rest } = node;
  const identity: Plain = { ...rest, server: node.server.toLowerCase() };
  delete identity['packetEncoding'];
  if ('tls' in node) identity['tls'] = tlsIdentity(node);
  if ('transport' in node) identity['transport'] = transportIdentity(node.transport, node);
  if (node.type === 'vless' && node.encryption === 'none') delete identity['encryption'];
  if ('options' in node) identity['options'] = optionsIdentity(node);
  if (node.type === 'http') identity['headers'] = lowerKeys(node.headers);
  return identity;
}

/** Options of the client's own side: speed, sockets, the imitated ClientHello. */
const LOCAL_OPTIONS = [
  'client-fingerprint',
  'up',
  'down',
  'hop-interval',
  'mtu',
  'tfo',
  'fast-open',
  'mptcp',
  'ip-version',
  'interface-name',
  'routing-mark',
  'smux',
  'dns',
  'remote-dns-resolve',
  'persistent-keepalive',
  'congestion-controller',
  'udp-relay-mode',
  'reduce-rtt',
  'multiplexing',
];

function optionsIdentity(node: OtherNode): Plain {
  const identity: Plain = { ...node.options };
  for (const option of LOCAL_OPTIONS) delete identity[option];
  if (identity['sni'] === node.server) delete identity['sni'];
  return identity;
}

function tlsIdentity(node: ProxyNode & { tls?: NodeTls }): Plain | undefined {
  if (node.tls === undefined) return undefined;
  const { clientFingerprint: _clientFingerprint, ...tls } = node.tls;
  const identity: Plain = { ...tls, on: true };
  if (tls.sni !== undefined && tls.sni.toLowerCase() === node.server.toLowerCase()) delete identity['sni'];
  if (tls.skipCertVerify === false) delete identity['skipCertVerify'];
  const usual = node.type === 'trojan' && tls.alpn?.join(',') === 'h2,http/1.1';
  if (tls.alpn?.length === 0 || usual) delete identity['alpn'];
  // Only the path that the crawler starts with; the server does not check it.
  if (tls.reality !== undefined) identity['reality'] = { ...tls.reality, spiderX: undefined };
  return identity;
}

function transportIdentity(transport: NodeTransport | undefined, node: ProxyNode): Plain | undefined {
  if (transport === undefined) return undefined;
  const identity: Plain = { ...transport };
  if (transport.type === 'ws' || transport.type === 'httpupgrade') {
    identity['headers'] = lowerKeys(transport.headers, hostInUrl(node.server));
    delete identity['maxEarlyData'];
    delete identity['earlyDataHeaderName'];
  }
  if (transport.type === 'http') identity['headers'] = lowerKeys(transport.headers);
  if (transport.type === 'grpc' && transport.multiMode !== true) delete identity['multiMode'];
  if (transport.type === 'h2' && transport.hosts?.length === 0) delete identity['hosts'];
  return identity;
}

/** Header names in lower case (RFC 9110 5.1). A Host that equals the server is left out. */
function lowerKeys(headers: Record<string, unknown> | undefined, server?: string): Plain | undefined {
  if (headers === undefined) return undefined;
  const lower: Plain = {};
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (key !== 'host' || value !== server) lower[key] = value;
  }
  return Object.keys(lower).length === 0 ? undefined : lower;
}

/**
 * Unambiguous text of a value: sorted keys, no undefined values, texts with their length in front. Faster than JSON,
 * which matters because it runs for every node of a list.
 */
function canonicalText(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  if (typeof value !== 'object' || value === null) return String(value as number | boolean | null | undefined);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) text += `${canonicalText(item)},`;
    return `[${text}]`;
  }
  const record = value as Plain;
  for (const key of Object.keys(record).sort()) {
    const inner = record[key];
    if (inner !== undefined) text += `${key.length}:${key}=${canonicalText(inner)},`;
  }
  return `{${text}}`;
}
