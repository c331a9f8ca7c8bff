import type { NodeTls, NodeTransport } from '@gatehouse/contracts';
import { createGrpcCarrier } from './http2/grpc.js';
import { createHttp2Carrier } from './http2/plain.js';
import { disguise } from './http-disguise.js';
import { dialNodeServer, type NodeServer, type Carrier } from './node-server.js';
import type { ServerDialer } from './server-dialer.js';
import { openHttpUpgrade, openWebSocket } from './websocket/open.js';

export interface CarriedNode extends NodeServer {
  transport?: NodeTransport | undefined;
}

/** @throws RangeError for a transport that `carriedHere` does not accept. */
export function createCarrier(node: CarriedNode, dialer: ServerDialer): Carrier {
  const { transport } = node;
  switch (transport?.type) {
    case undefined:
      return unshared((context) => dialNodeServer(node, dialer, context));
    case 'ws': {
      const server = { ...node, ...withAlpn(node.tls, 'http/1.1') };
      return unshared(async (context) => openWebSocket(server, transport, dialer, context));
    }
    case 'httpupgrade': {
      const server = { ...node, ...withAlpn(node.tls, 'http/1.1') };
      return unshared(async (context) => openHttpUpgrade(server, transport, dialer, context));
    }
    case 'http':
      return unshared(async (context) => disguise(await dialNodeServer(node, dialer, context), node, transport));
    case 'h2':
      return createHttp2Carrier({ ...node, ...withAlpn(node.tls, 'h2') }, transport, dialer);
    case 'grpc':
      return createGrpcCarrier({ ...node, ...withAlpn(node.tls, 'h2') }, transport, dialer);
    case 'xhttp':
    case 'kcp':
    case 'quic':
      throw new RangeError(`transport ${transport.type} is not carried here`);
  }
}

/** Whether `createCarrier` supports the transport. */
export function carriedHere(transport: NodeTransport | undefined): boolean {
  return transport === undefined || !['xhttp', 'kcp', 'quic'].includes(transport.type);
}

/** Offers only the protocol that the transport needs, since the server might choose another. */
function withAlpn(tls: NodeTls | undefined, protocol: string): { tls?: NodeTls } {
  return tls ? { tls: { ...tls, alpn: [protocol] } } : {};
}

function unshared(connect: Carrier['connect']): Carrier {
  return { connect, close: () => undefined };
}
