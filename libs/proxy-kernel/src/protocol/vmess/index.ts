import type { VmessNode } from '@gatehouse/contracts';
import { external, requireUserId, unsupported, userIdSupport, type NodeProtocol } from '../node-protocol.js';
import { VmessOutbound, isEmbeddedSecurity } from './outbound.js';

export const vmess: NodeProtocol<VmessNode> = {
  support: (node) => {
    if (node.alterId > 0) return external('the old VMess header (alterId above 0)');
    if (node.cipher === 'aes-128-cfb') return external(`cipher ${node.cipher}`);
    if (!isEmbeddedSecurity(node.cipher)) return unsupported(`cipher ${node.cipher} is not known`);
    return userIdSupport(node);
  },
  create: ({ tag, node, dialer, path }) => new VmessOutbound(tag, node, requireUserId(node.uuid, path), dialer),
};
