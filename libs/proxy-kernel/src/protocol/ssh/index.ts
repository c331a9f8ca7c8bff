import type { OtherNode } from '@gatehouse/contracts';
import { EMBEDDED, external, type NodeProtocol } from '../node-protocol.js';
import { isFileName } from './options.js';
import { SshOutbound } from './outbound.js';

export const ssh: NodeProtocol<OtherNode> = {
  support: ({ options }) => (isFileName(options['private-key']) ? external('a private key in a file') : EMBEDDED),
  create: ({ tag, node, dialer }) => new SshOutbound(tag, node, dialer),
};
