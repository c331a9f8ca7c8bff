import type { TunnelGatewayView } from '@gatehouse/contracts';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export const GatewayContext = createContext<TunnelGatewayView | null>(null);

/** How agents and visitors reach the gateway. @throws Error outside of a GatewayContext. */
export function useGateway(): TunnelGatewayView {
  const gateway = useContext(GatewayContext);
  if (gateway === null) throw new Error('no GatewayContext above this component');
  return gateway;
}
