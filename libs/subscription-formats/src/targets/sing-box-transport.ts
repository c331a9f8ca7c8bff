import type { ProxyNode } from '@gatehouse/contracts';
import { given } from '../stream/transport.js';
import { Unsayable } from './target.js';

type Options = Record<string, unknown>;

/** The `transport` of a sing-box outbound. @throws Unsayable */
export function writeSingBoxTransport(node: ProxyNode): Options {
  const transport = 'transport' in node ? node.transport : undefined;
  if (transport === undefined) return {};
  switch (transport.type) {
    case 'ws':
      return {
        transport: {
          type: 'ws',
          path: transport.path,
          ...given('headers', transport.headers),
          ...given('max_early_data', transport.maxEarlyData),
          ...given('early_data_header_name', transport.earlyDataHeaderName),
        },
      };
    case 'httpupgrade': {
      const { Host: host, ...headers } = transport.headers ?? {};
      const more = Object.keys(headers).length === 0 ? {} : { headers };
      return { transport: { type: 'httpupgrade', ...given('host', host), path: transport.path, ...more } };
    }
    case 'grpc':
      if (transport.multiMode === true) throw new Unsayable('transport.multiMode');
      if (transport.authority !== undefined) throw new Unsayable('transport.authority');
      return { transport: { type: 'grpc', service_name: transport.serviceName } };
    case 'h2':
      // Without TLS sing-box would speak HTTP/1.1.
      if (!('tls' in node) || node.tls === undefined) throw new Unsayable('transport h2 without tls');
      return { transport: { type: 'http', ...given('host', transport.hosts), path: transport.path } };
    case 'quic':
      if (Object.keys(transport).length > 1) throw new Unsayable('transport.security');
      return { transport: { type: 'quic' } };
    case 'http':
    case 'xhttp':
    case 'kcp':
      throw new Unsayable(`transport ${transport.type}`);
  }
}
