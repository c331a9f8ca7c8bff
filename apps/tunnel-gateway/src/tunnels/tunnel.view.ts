import type { TrafficQuotaView, TunnelView } from '@gatehouse/contracts';
import type { TunnelState } from '@gatehouse/tunnel-kernel';
import { flag, instant } from '../wire/view-parts.js';
import { readerText } from '../reader-text.js';
import type { Tunnel, TunnelOptions } from '../data/tunnel.entity.js';

export interface TunnelFacts {
  options: TunnelOptions | undefined;
  quota: TrafficQuotaView;
  /** State in the data plane; undefined: it does not answer, or does not serve the tunnel. */
  state: TunnelState | undefined;
}

export function toTunnelView(tunnel: Tunnel, { options, quota, state }: TunnelFacts): TunnelView {
  return {
    id: tunnel.id,
    client_id: tunnel.clientId,
    name: tunnel.name,
    mode: tunnel.mode,
    listen_ip: tunnel.listenIp ?? '0.0.0.0',
    listen_port: tunnel.listenPort,
    port_count: options?.portCount ?? 1,
    target_addr: tunnel.targetAddr,
    status: flag(tunnel.status),
    run_status: tunnel.runStatus as TunnelView['run_status'],
    error: state?.error == null ? null : readerText(state.error),
    proxy_protocol: options?.proxyProtocol ?? 0,
    accept_proxy_protocol: options?.acceptProxyProtocol ?? false,
    rate_limit: options?.rateLimit ?? 0,
    inlet_flow: tunnel.inletFlow ?? 0,
    export_flow: tunnel.exportFlow ?? 0,
    ...quota,
    created_at: instant(tunnel.createdAt),
    updated_at: instant(tunnel.updatedAt),
  };
}
