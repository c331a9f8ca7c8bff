import { localControlEndpoint, type ControlEndpoint } from '@gatehouse/net';

/** The channel socket of a home's edge. */
export function ownChannelAddress(folder: string): ControlEndpoint {
  return localControlEndpoint(folder, 'edge');
}
