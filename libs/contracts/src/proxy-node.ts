/**
 * What a proxy node is, in the one shape that parsers produce, the database stores and the kernel dials.
 * Option names follow the Clash (mihomo) entry of the same type, in camelCase.
 */

/** Clash type names of every kind of node we can hold. */
export const PROXY_NODE_TYPES = [
  'ss',
  'ssr',
  'vmess',
  'vless',
  'trojan',
  'hysteria',
  'hysteria2',
  'tuic',
  'wireguard',
  'socks5',
  'http',
  'anytls',
  'snell',
  'ssh',
  'mieru',
  'naive',
  'juicity',
  'masque',
  'sudoku',
  'trusttunnel',
  'tailscale',
] as const;
export type ProxyNodeType = (typeof PROXY_NODE_TYPES)[number];

/** TLS to the server. Absent means plain. */
export interface NodeTls {
  /** Server name to send and to verify; absent: `server` of the node. */
  sni?: string;
  alpn?: string[];
  skipCertVerify?: boolean;
  /** SHA-256 of the server's certificate, hex without colons. Several are separated by commas; any of them is accepted. */
  fingerprint?: string;
  /** uTLS ClientHello to imitate (`chrome`, `firefox`...). Kept for export; the embedded kernel cannot imitate one. */
  clientFingerprint?: string;
  reality?: { publicKey: string; shortId?: string; spiderX?: string };
  /** PEM of a client certificate and its key. */
  certificate?: string;
  privateKey?: string;
  ech?: string;
}

/** What carries the protocol's bytes. Absent means raw TCP. */
export type NodeTransport =
  | {
      type: 'ws';
      path: string;
      headers?: Record<string, string>;
      maxEarlyData?: number;
      earlyDataHeaderName?: string;
    }
  | { type: 'httpupgrade'; path: string; headers?: Record<string, string> }
  | { type: 'grpc'; serviceName: string; multiMode?: boolean; authority?: string }
  | { type: 'h2'; hosts?: string[]; path: string }
  | { type: 'http'; method?: string; path?: string[]; headers?: Record<string, string[]> }
  | {
      type: 'xhttp';
      path: string;
      host?: string;
      mode?: string;
      /** The `extra` object of Xray as JSON text. */
      extra?: string;
    }
  | { type: 'kcp'; seed?: string; headerType?: string }
  | { type: 'quic'; security?: string; key?: string; headerType?: string };

interface NodeEndpoint {
  /** Label for people. Never an identity: two nodes may share one. */
  name: string;
  /** Host name or address literal, IPv6 without brackets. */
  server: string;
  /** 1 to 65535. */
  port: number;
  /** Whether UDP may be sent through it; absent: what the protocol does by default. */
  udp?: boolean;
  /** Name of another node or group to dial through. */
  dialerProxy?: string;
}

export interface ShadowsocksNode extends NodeEndpoint {
  type: 'ss';
  /** Lower case, e.g. `aes-128-gcm`, `chacha20-ietf-poly1305`, `2022-blake3-aes-128-gcm`. */
  cipher: string;
  password: string;
  /** SIP003 plugin. */
  plugin?: { name: string; options: Record<string, string | boolean> };
  udpOverTcp?: boolean;
}
export interface Socks5Node extends NodeEndpoint {
  type: 'socks5';
  username?: string;
  password?: string;
  tls?: NodeTls;
}
export interface HttpNode extends NodeEndpoint {
  type: 'http';
  username?: string;
  password?: string;
  tls?: NodeTls;
  headers?: Record<string, string>;
}
export interface TrojanNode extends NodeEndpoint {
  type: 'trojan';
  password: string;
  tls: NodeTls;
  transport?: NodeTransport;
}
export interface VmessNode extends NodeEndpoint {
  type: 'vmess';
  uuid: string;
  alterId: number;
  /** `auto`, `aes-128-gcm`, `chacha20-poly1305`, `none`, `zero`. */
  cipher: string;
  tls?: NodeTls;
  transport?: NodeTransport;
  packetEncoding?: string;
}
export interface VlessNode extends NodeEndpoint {
  type: 'vless';
  uuid: string;
  flow?: string;
  /** Absent or `none`: no VLESS encryption. */
  encryption?: string;
  tls?: NodeTls;
  transport?: NodeTransport;
  packetEncoding?: string;
}
/** Kinds whose options are kept as they are in the Clash entry. The embedded kernel dials `anytls` and `ssh` of them. */
export interface OtherNode extends NodeEndpoint {
  type: Exclude<ProxyNodeType, 'ss' | 'vmess' | 'vless' | 'trojan' | 'socks5' | 'http'>;
  /** The Clash entry's own option names and values, `name`, `type`, `server` and `port` left out. */
  options: Record<string, unknown>;
}

export type ProxyNode = ShadowsocksNode | Socks5Node | HttpNode | TrojanNode | VmessNode | VlessNode | OtherNode;
