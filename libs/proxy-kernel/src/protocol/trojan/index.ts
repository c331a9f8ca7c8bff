import type { TrojanNode } from '@gatehouse/contracts';
import { carrierSupport, type NodeProtocol } from '../node-protocol.js';
import { TrojanOutbound } from './outbound.js';

export const trojan: NodeProtocol<TrojanNode> = {
  support: carrierSupport,
  create: ({ tag, node, dialer }) => new TrojanOutbound(tag, node, dialer),
};
