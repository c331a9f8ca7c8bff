import type { NodeTls, NodeTransport, ProxyNode, VlessNode, VmessNode } from '@gatehouse/contracts';
import {
  KernelConfigError,
  type Inbound,
  type InboundContext,
  type Outbound,
  type Resolver,
} from './interfaces/index.js';
import type { DialGuard } from './guard/target-guard.js';
import { AnyTlsOutbound } from './protocol/anytls/outbound.js';
import { DirectOutbound } from './protocol/direct/outbound.js';
import { HttpOutbound } from './protocol/http/outbound.js';
import { MixedInbound } from './protocol/mixed/inbound.js';
import { RejectOutbound } from './protocol/reject/outbound.js';
import { isEmbeddedCipher } from './protocol/shadowsocks/cipher.js';
import { isCipher2022, parseKeys2022 } from './protocol/shadowsocks-2022/cipher.js';
import { ShadowsocksOutbound } from './protocol/shadowsocks/outbound.js';
import { pluginObstacle } from './protocol/shadowsocks/plugin.js';
import { Socks5Outbound } from './protocol/socks/outbound.js';
import { isFileName } from './protocol/ssh/options.js';
import { SshOutbound } from './protocol/ssh/outbound.js';
import { TrojanOutbound } from './protocol/trojan/outbound.js';
import { parseUserId } from './protocol/user-id.js';
import { VlessOutbound } from './protocol/vless/outbound.js';
import { VmessOutbound, isEmbeddedSecurity } from './protocol/vmess/outbound.js';
import { carriedHere } from './transport/carrier.js';
import type { ServerDialer } from './transport/server-dialer.js';

export interface NodeSupport {
  /** `embedded`: this kernel dials it. `external`: another kernel can. `unsupported`: none that we drive. */
  support: 'embedded' | 'external' | 'unsupported';
  reason?: string;
}

/** Shadowsocks ciphers that mihomo dials and this kernel does not. */
const EXTERNAL_CIPHERS =
  /^(none|plain|dummy|rc4-md5|(x?chacha20)(-ietf)?(-poly1305)?|aes-(128|192|256)-(ctr|cfb|ccm|gcm-siv|gcm)|2022-blake3-.+|.*aegis-.+|lea-.+)$/;

const BAD_ID: NodeSupport = {
  support: 'unsupported',
  reason: 'the user id is neither a UUID nor a name of 1 to 30 bytes',
};

const BAD_KEY: NodeSupport = {
  support: 'unsupported',
  reason: 'the password is not base64 of a key of the cipher’s length (several: joined by colons)',
};

export function builtInOutbounds(resolver: Resolver, guard: DialGuard | null = null): Map<string, Outbound> {
  const all: Outbound[] = [
    new DirectOutbound('DIRECT', resolver, guard),
    new RejectOutbound('REJECT', false),
    new RejectOutbound('REJECT-DROP', true),
  ];
  return new Map(all.map((outbound) => [outbound.tag, outbound]));
}

/** Whether a node can be dialled, and by whom. */
export function supportsNode(node: ProxyNode): NodeSupport {
  switch (node.type) {
    case 'ss':
      return supportsShadowsocks(node);
    case 'socks5':
    case 'http':
      return supportsCarrier(node.tls, undefined);
    case 'trojan':
      return supportsCarrier(node.tls, node.transport);
    case 'vless':
      return supportsVless(node);
    case 'vmess':
      return supportsVmess(node);
    case 'ssh':
      return isFileName(node.options['private-key']) ? external('a private key in a file') : { support: 'embedded' };
    case 'anytls':
      return node.options['ech-opts'] === undefined ? { support: 'embedded' } : external('encrypted ClientHello');
    case 'ssr':
    case 'hysteria':
    case 'hysteria2':
    case 'tuic':
    case 'wireguard':
    case 'snell':
    case 'mieru':
      return external(node.type);
  }
}

/** @throws KernelConfigError for a node that this kernel cannot dial. */
export function createOutbound(tag: string, node: ProxyNode, dialer: ServerDialer, path: string): Outbound {
  const { support, reason } = supportsNode(node);
  if (support !== 'embedded') throw new KernelConfigError(path, `${tag} cannot be dialled: ${reason ?? node.type}`);
  switch (node.type) {
    case 'ss':
      return new ShadowsocksOutbound(tag, node, dialer);
    case 'socks5':
      return new Socks5Outbound(tag, node, dialer);
    case 'http':
      return new HttpOutbound(tag, node, dialer);
    case 'trojan':
      return new TrojanOutbound(tag, node, dialer);
    case 'vless':
      return new VlessOutbound(tag, node, userId(node.uuid, path), dialer);
    case 'vmess':
      return new VmessOutbound(tag, node, userId(node.uuid, path), dialer);
    case 'anytls':
      return new AnyTlsOutbound(tag, node, dialer);
    case 'ssh':
      return new SshOutbound(tag, node, dialer);
    case 'ssr':
    case 'hysteria':
    case 'hysteria2':
    case 'tuic':
    case 'wireguard':
    case 'snell':
    case 'mieru':
      throw new KernelConfigError(path, `${tag} cannot be dialled: ${node.type}`);
  }
}

export function createInbound(context: InboundContext): Inbound {
  return new MixedInbound(context);
}

function supportsShadowsocks(node: Extract<ProxyNode, { type: 'ss' }>): NodeSupport {
  const obstacle = node.plugin ? pluginObstacle(node.plugin) : null;
  if (obstacle !== null) return external(obstacle);
  if (isEmbeddedCipher(node.cipher)) return { support: 'embedded' };
  if (isCipher2022(node.cipher)) return parseKeys2022(node.cipher, node.password) ? { support: 'embedded' } : BAD_KEY;
  if (EXTERNAL_CIPHERS.test(node.cipher)) return external(`cipher ${node.cipher}`);
  return { support: 'unsupported', reason: `cipher ${node.cipher} is not known` };
}

function supportsVless(node: VlessNode): NodeSupport {
  // XTLS cuts the connection over to the raw socket under TLS, which node:tls does not let us have.
  if (node.flow) return external(`flow ${node.flow}`);
  if (node.encryption && node.encryption !== 'none') return external('VLESS encryption');
  return parseUserId(node.uuid) ? supportsCarrier(node.tls, node.transport) : BAD_ID;
}

function supportsVmess(node: VmessNode): NodeSupport {
  if (node.alterId > 0) return external('the old VMess header (alterId above 0)');
  if (node.cipher === 'aes-128-cfb') return external(`cipher ${node.cipher}`);
  if (!isEmbeddedSecurity(node.cipher)) return { support: 'unsupported', reason: `cipher ${node.cipher} is not known` };
  return parseUserId(node.uuid) ? supportsCarrier(node.tls, node.transport) : BAD_ID;
}

/** `clientFingerprint` is no obstacle: the handshake works, it only looks like Node's own. */
function supportsCarrier(tls: NodeTls | undefined, transport: NodeTransport | undefined): NodeSupport {
  if (tls?.reality) return external('REALITY');
  if (tls?.ech) return external('encrypted ClientHello');
  return carriedHere(transport) ? { support: 'embedded' } : external(`transport ${transport?.type}`);
}

function userId(uuid: string, path: string): Buffer {
  const id = parseUserId(uuid);
  if (!id) throw new KernelConfigError(path, 'the user id is neither a UUID nor a name of 1 to 30 bytes');
  return id;
}

function external(what: string): NodeSupport {
  return { support: 'external', reason: `${what} is not carried by the embedded kernel` };
}
