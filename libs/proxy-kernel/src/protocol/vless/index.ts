import type { VlessNode } from '@gatehouse/contracts';
import { external, requireUserId, userIdSupport, type NodeProtocol } from '../node-protocol.js';
import { VlessOutbound } from './outbound.js';

export const vless: NodeProtocol<VlessNode> = {
  support: (node) => {
    // XTLS switches the connection to the raw socket below TLS, which node:tls does not give access to.
    if (node.flow) return external(`flow ${node.flow}`);
    if (node.encryption && node.encryption !== 'none') return external('VLESS encryption');
    return userIdSupport(node);
  },
  create: ({ tag, node, dialer, path }) => new VlessOutbound(tag, node, requireUserId(node.uuid, path), dialer),
};
