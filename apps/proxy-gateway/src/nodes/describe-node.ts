import type { NodeTls, NodeView, ProxyNode } from '@gatehouse/contracts';

/** The facts about a node that lists show and filter by, without secrets. */
export type NodeFacts = Pick<NodeView, 'type' | 'server' | 'port' | 'network' | 'tls' | 'udp' | 'sni' | 'cipher'>;

/** Types that run over QUIC or UDP themselves. */
const UDP_CARRIED: readonly ProxyNode['type'][] = ['hysteria', 'hysteria2', 'tuic', 'juicity', 'wireguard'];
/** Types that carry UDP by default. */
const UDP_BY_DEFAULT: readonly ProxyNode['type'][] = [...UDP_CARRIED, 'anytls', 'mieru'];
const TLS_ALWAYS: readonly ProxyNode['type'][] = ['hysteria', 'hysteria2', 'tuic', 'anytls', 'naive', 'juicity'];

export function describeNode(node: ProxyNode): NodeFacts {
  const tls = 'tls' in node ? node.tls : undefined;
  return {
    type: node.type,
    server: node.server,
    port: node.port,
    network: networkOf(node),
    tls: tlsKind(node, tls),
    udp: node.udp ?? UDP_BY_DEFAULT.includes(node.type),
    sni: tls?.sni ?? optionText(node, 'sni'),
    cipher: 'cipher' in node ? node.cipher : optionText(node, 'cipher'),
  };
}

function networkOf(node: ProxyNode): string {
  if ('transport' in node && node.transport) return node.transport.type;
  return UDP_CARRIED.includes(node.type) ? (node.type === 'wireguard' ? 'udp' : 'quic') : 'tcp';
}

function tlsKind(node: ProxyNode, tls: NodeTls | undefined): NodeFacts['tls'] {
  if (tls?.reality) return 'reality';
  return tls || TLS_ALWAYS.includes(node.type) ? 'tls' : 'none';
}

function optionText(node: ProxyNode, key: string): string | null {
  const value = 'options' in node ? node.options[key] : undefined;
  return typeof value === 'string' ? value : null;
}
