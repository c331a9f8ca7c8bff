import type { VlessNode } from '@gatehouse/contracts';
import { external, requireUserId, userIdSupport, type NodeProtocol } from '../node-protocol.js';
import { VlessOutbound } from './outbound.js';

export const vless: NodeProtocol<VlessNode> = {
  support: (node) => {
    // XTLS cuts the connection over to the raw socket under TLS, which node:tls does not let us have.
    if (node.flow) return external(`flow ${node.flow}`);
    if (node.encryption && node.encryption !== 'none') return external('VLESS encryption');
    return userIdSupport(node);
  },
  create: ({ tag, node, dialer, path }) => new VlessOutbound(tag, node, requireUserId(node.uuid, path), dialer),
};
