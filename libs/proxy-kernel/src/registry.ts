import type { ProxyNode, ProxyNodeType } from '@gatehouse/contracts';
import {
  KernelConfigError,
  type Inbound,
  type InboundContext,
  type Outbound,
  type Resolver,
} from './interfaces/index.js';
import type { DialGuard } from './guard/target-guard.js';
import { anytls } from './protocol/anytls/index.js';
import { DirectOutbound } from './protocol/direct/outbound.js';
import { http } from './protocol/http/index.js';
import { MixedInbound } from './protocol/mixed/inbound.js';
import { externalProtocol, type NodeOfType, type NodeProtocol, type NodeSupport } from './protocol/node-protocol.js';
import { RejectOutbound } from './protocol/reject/outbound.js';
import { shadowsocks } from './protocol/shadowsocks/index.js';
import { socks5 } from './protocol/socks/index.js';
import { ssh } from './protocol/ssh/index.js';
import { trojan } from './protocol/trojan/index.js';
import { vless } from './protocol/vless/index.js';
import { vmess } from './protocol/vmess/index.js';
import type { ServerDialer } from './transport/server-dialer.js';

/** The protocol of each type of node. A missing type does not compile. */
const PROTOCOLS: { readonly [T in ProxyNodeType]: NodeProtocol<NodeOfType<T>> } = {
  ss: shadowsocks,
  socks5,
  http,
  trojan,
  vless,
  vmess,
  anytls,
  ssh,
  ssr: externalProtocol('ssr'),
  hysteria: externalProtocol('hysteria'),
  hysteria2: externalProtocol('hysteria2'),
  tuic: externalProtocol('tuic'),
  wireguard: externalProtocol('wireguard'),
  snell: externalProtocol('snell'),
  mieru: externalProtocol('mieru'),
  naive: externalProtocol('naive'),
  juicity: externalProtocol('juicity'),
  masque: externalProtocol('masque'),
  sudoku: externalProtocol('sudoku'),
  trusttunnel: externalProtocol('trusttunnel'),
  tailscale: externalProtocol('tailscale'),
};

export function builtInOutbounds(resolver: Resolver, guard: DialGuard | null = null): Map<string, Outbound> {
  const all: Outbound[] = [
    new DirectOutbound('DIRECT', resolver, guard),
    new RejectOutbound('REJECT', false),
    new RejectOutbound('REJECT-DROP', true),
  ];
  return new Map(all.map((outbound) => [outbound.tag, outbound]));
}

/** Whether a node can be dialled, and by which kernel. */
export function supportsNode(node: ProxyNode): NodeSupport {
  return protocolOf(node).support(node);
}

/** @throws KernelConfigError for a node that this kernel cannot dial. */
export function createOutbound(tag: string, node: ProxyNode, dialer: ServerDialer, path: string): Outbound {
  const protocol = protocolOf(node);
  const { support, reason } = protocol.support(node);
  if (support !== 'embedded') throw new KernelConfigError(path, `${tag} cannot be dialled: ${reason ?? node.type}`);
  return protocol.create({ tag, node, dialer, path });
}

export function createInbound(context: InboundContext): Inbound {
  return new MixedInbound(context);
}

function protocolOf({ type }: ProxyNode): NodeProtocol {
  return PROTOCOLS[type];
}
