import type { HttpNode } from '@gatehouse/contracts';
import { carrierSupport, type NodeProtocol } from '../node-protocol.js';
import { HttpOutbound } from './outbound.js';

export const http: NodeProtocol<HttpNode> = {
  support: carrierSupport,
  create: ({ tag, node, dialer }) => new HttpOutbound(tag, node, dialer),
};
