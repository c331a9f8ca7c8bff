import type { HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';
import type { AgentTunnel, TargetAddress } from './wire/messages.js';

/** A tunnel as the administration has it. */
export interface TunnelConfig {
  id: number;
  clientId: number;
  mode: 'tcp';
  /** Where visitors come in; port 0 lets the system choose. */
  listen: HostAndPort;
  targets: TargetAddress[];
  /** Header that targets get to know their visitors by. Absent: none. */
  proxyProtocol?: 1 | 2;
}

/** What a server is told to be: one immutable value. */
export interface TunnelServerConfig {
  revision: number;
  tunnels: TunnelConfig[];
}

/** @throws TunnelError `protocol` naming a tunnel that agents could not be told. */
export function checkConfig({ tunnels }: TunnelServerConfig): void {
  const ids = new Set<number>();
  for (const { id, targets } of tunnels) {
    if (!Number.isSafeInteger(id) || id < 0 || ids.has(id)) throw new TunnelError('protocol', `tunnel ${id}: id`);
    ids.add(id);
    if (targets.length === 0 || targets.length > 64) throw new TunnelError('protocol', `tunnel ${id}: 1 to 64 targets`);
    for (const { host, port, weight } of targets) {
      const whole = Number.isInteger(port) && Number.isInteger(weight);
      const inRange = port >= 1 && port <= 65_535 && weight >= 1 && weight <= 1000;
      if (host === '' || host.length > 255 || !whole || !inRange) {
        throw new TunnelError('protocol', `tunnel ${id}: target ${host}:${port}`);
      }
    }
  }
}

/** What the agent of `clientId` is told. */
export function agentTunnels({ tunnels }: TunnelServerConfig, clientId: number): AgentTunnel[] {
  return tunnels
    .filter((tunnel) => tunnel.clientId === clientId)
    .map(({ id, mode, targets, proxyProtocol }) => ({ id, mode, targets, proxyProtocol: proxyProtocol ?? 0 }));
}
