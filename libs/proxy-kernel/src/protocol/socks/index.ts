import type { Socks5Node } from '@gatehouse/contracts';
import { carrierSupport, type NodeProtocol } from '../node-protocol.js';
import { Socks5Outbound } from './outbound.js';

export const socks5: NodeProtocol<Socks5Node> = {
  support: carrierSupport,
  create: ({ tag, node, dialer }) => new Socks5Outbound(tag, node, dialer),
};
