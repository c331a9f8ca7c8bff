import type { NodeTls, NodeTransport, ProxyNode } from '@gatehouse/contracts';

type Outbound = Record<string, unknown>;

/** The node without options that sing-box does not have. */
export function sayable(node: ProxyNode): ProxyNode {
  const { udp: _udp, plugin: _plugin, encryption: _encryption, ...rest } = node as ProxyNode & Outbound;
  const tls = rest['tls'] as NodeTls | undefined;
  const transport = rest['transport'] as NodeTransport | undefined;
  if (tls !== undefined) {
    const { fingerprint: _f, certificate: _c, privateKey: _p, ech: _e, ...kept } = tls;
    if (kept.reality !== undefined) {
      const { spiderX: _s, ...reality } = kept.reality;
      kept.reality = reality;
    }
    rest['tls'] = kept;
  }
  if (transport?.type === 'grpc') rest['transport'] = { type: 'grpc', serviceName: transport.serviceName };
  else if (transport !== undefined && transport.type !== 'ws') delete rest['transport'];
  if (rest['type'] === 'socks5') delete rest['tls'];
  return rest as unknown as ProxyNode;
}

/** The sing-box outbound equivalent to a node; undefined if there is none. */
export function toSingBoxOutbound(node: ProxyNode): Outbound | undefined {
  if (node.udp !== undefined) return undefined;
  const own = protocol(node);
  const tls = 'tls' in node && node.tls !== undefined ? tlsOf(node.tls) : {};
  const transport = 'transport' in node && node.transport !== undefined ? transportOf(node.transport) : {};
  if (own === undefined || tls === undefined || transport === undefined) return undefined;
  const place = { tag: node.name, server: node.server, server_port: node.port };
  const detour = node.dialerProxy === undefined ? {} : { detour: node.dialerProxy };
  return { ...place, ...own, ...detour, ...tls, ...transport };
}

function protocol(node: ProxyNode): Outbound | undefined {
  if ('options' in node) return undefined;
  switch (node.type) {
    case 'ss':
      if (node.plugin !== undefined) return undefined;
      return {
        type: 'shadowsocks',
        method: node.cipher,
        password: node.password,
        ...(node.udpOverTcp === true ? { udp_over_tcp: { enabled: true } } : {}),
      };
    case 'socks5':
      return node.tls === undefined ? { type: 'socks', version: '5', ...user(node) } : undefined;
    case 'http':
      return { type: 'http', ...user(node), ...(node.headers === undefined ? {} : { headers: node.headers }) };
    case 'trojan':
      return { type: 'trojan', password: node.password };
    case 'vmess':
      return {
        type: 'vmess',
        uuid: node.uuid,
        alter_id: node.alterId,
        security: node.cipher,
        ...(node.packetEncoding === undefined ? {} : { packet_encoding: node.packetEncoding }),
      };
    case 'vless':
      if (node.encryption !== undefined) return undefined;
      return {
        type: 'vless',
        uuid: node.uuid,
        ...(node.flow === undefined ? {} : { flow: node.flow }),
        ...(node.packetEncoding === undefined ? {} : { packet_encoding: node.packetEncoding }),
      };
  }
}

function user({ username, password }: { username?: string; password?: string }): Outbound {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

function tlsOf(tls: NodeTls): Outbound | undefined {
  const { sni, alpn, skipCertVerify, clientFingerprint, reality, ...rest } = tls;
  if (Object.keys(rest).length > 0 || reality?.spiderX !== undefined) return undefined;
  return {
    tls: {
      enabled: true,
      ...(sni === undefined ? {} : { server_name: sni }),
      ...(alpn === undefined ? {} : { alpn }),
      ...(skipCertVerify === true ? { insecure: true } : {}),
      ...(clientFingerprint === undefined ? {} : { utls: { enabled: true, fingerprint: clientFingerprint } }),
      ...(reality === undefined
        ? {}
        : { reality: { enabled: true, public_key: reality.publicKey, short_id: reality.shortId ?? '' } }),
    },
  };
}

function transportOf(transport: NodeTransport): Outbound | undefined {
  switch (transport.type) {
    case 'ws':
      return {
        transport: {
          type: 'ws',
          path: transport.path,
          ...(transport.headers === undefined ? {} : { headers: transport.headers }),
          ...(transport.maxEarlyData === undefined ? {} : { max_early_data: transport.maxEarlyData }),
          ...(transport.earlyDataHeaderName === undefined
            ? {}
            : { early_data_header_name: transport.earlyDataHeaderName }),
        },
      };
    case 'grpc':
      if (transport.multiMode !== undefined || transport.authority !== undefined) return undefined;
      return { transport: { type: 'grpc', service_name: transport.serviceName } };
    case 'httpupgrade':
    case 'h2':
    case 'http':
    case 'xhttp':
    case 'kcp':
    case 'quic':
      return undefined;
  }
}
