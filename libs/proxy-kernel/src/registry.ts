import type { ProxyNode } from '@gatehouse/contracts';
import {
  KernelConfigError,
  type Inbound,
  type InboundContext,
  type Outbound,
  type Resolver,
} from './interfaces/index.js';
import { DirectOutbound } from './protocol/direct/outbound.js';
import { HttpOutbound } from './protocol/http/outbound.js';
import { MixedInbound } from './protocol/mixed/inbound.js';
import { RejectOutbound } from './protocol/reject/outbound.js';
import { isEmbeddedCipher } from './protocol/shadowsocks/cipher.js';
import { ShadowsocksOutbound } from './protocol/shadowsocks/outbound.js';
import { Socks5Outbound } from './protocol/socks/outbound.js';
import type { ServerDialer } from './transport/server-dialer.js';

export interface NodeSupport {
  /** `embedded`: this kernel dials it. `external`: another kernel can. `unsupported`: none that we drive. */
  support: 'embedded' | 'external' | 'unsupported';
  reason?: string;
}

/** Shadowsocks ciphers that mihomo dials and this kernel does not. */
const EXTERNAL_CIPHERS =
  /^(none|plain|dummy|rc4-md5|(x?chacha20)(-ietf)?(-poly1305)?|aes-(128|192|256)-(ctr|cfb|ccm|gcm-siv|gcm)|2022-blake3-.+|.*aegis-.+|lea-.+)$/;

export function builtInOutbounds(resolver: Resolver): Map<string, Outbound> {
  const all: Outbound[] = [
    new DirectOutbound('DIRECT', resolver),
    new RejectOutbound('REJECT', false),
    new RejectOutbound('REJECT-DROP', true),
  ];
  return new Map(all.map((outbound) => [outbound.tag, outbound]));
}

/** Whether a node can be dialled, and by whom. */
export function supportsNode(node: ProxyNode): NodeSupport {
  if (node.type === 'ss') return supportsShadowsocks(node);
  if (node.type !== 'socks5' && node.type !== 'http') return external(node.type);
  if (node.tls?.reality) return external('REALITY');
  return node.tls?.ech ? external('encrypted ClientHello') : { support: 'embedded' };
}

/** @throws KernelConfigError for a node that this kernel cannot dial. */
export function createOutbound(tag: string, node: ProxyNode, dialer: ServerDialer, path: string): Outbound {
  const { support, reason } = supportsNode(node);
  if (support !== 'embedded') throw new KernelConfigError(path, `${tag} cannot be dialled: ${reason ?? node.type}`);
  if (node.type === 'ss') return new ShadowsocksOutbound(tag, node, dialer);
  if (node.type === 'socks5') return new Socks5Outbound(tag, node, dialer);
  if (node.type === 'http') return new HttpOutbound(tag, node, dialer);
  throw new KernelConfigError(path, `${tag} cannot be dialled: ${node.type}`);
}

export function createInbound(context: InboundContext): Inbound {
  return new MixedInbound(context);
}

function supportsShadowsocks(node: Extract<ProxyNode, { type: 'ss' }>): NodeSupport {
  if (node.plugin) return external(`plugin ${node.plugin.name}`);
  if (node.udpOverTcp) return external('UDP over TCP');
  if (isEmbeddedCipher(node.cipher)) return { support: 'embedded' };
  if (EXTERNAL_CIPHERS.test(node.cipher)) return external(`cipher ${node.cipher}`);
  return { support: 'unsupported', reason: `cipher ${node.cipher} is not known` };
}

function external(what: string): NodeSupport {
  return { support: 'external', reason: `${what} is not carried by the embedded kernel` };
}
