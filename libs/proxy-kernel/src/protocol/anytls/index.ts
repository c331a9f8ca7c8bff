import type { OtherNode } from '@gatehouse/contracts';
import { EMBEDDED, external, type NodeProtocol } from '../node-protocol.js';
import { AnyTlsOutbound } from './outbound.js';

export const anytls: NodeProtocol<OtherNode> = {
  support: ({ options }) => (options['ech-opts'] === undefined ? EMBEDDED : external('encrypted ClientHello')),
  create: ({ tag, node, dialer }) => new AnyTlsOutbound(tag, node, dialer),
};
