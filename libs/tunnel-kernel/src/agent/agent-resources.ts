import type { AgentHost, AgentTunnel, ConfigMessage } from '../wire/messages.js';
import { TargetPicker } from './target-picker.js';

export interface KnownTunnel {
  tunnel: AgentTunnel;
  picker: TargetPicker;
}

/** What the server told this agent to serve. */
export class AgentResources {
  private readonly now: () => number;
  private tunnels = new Map<number, KnownTunnel>();
  private hosts = new Map<number, AgentHost>();

  constructor(now: () => number) {
    this.now = now;
  }

  configure({ tunnels, hosts }: Pick<ConfigMessage, 'tunnels' | 'hosts'>): void {
    this.tunnels = new Map(
      tunnels.map((tunnel) => [tunnel.id, { tunnel, picker: new TargetPicker(tunnel.targets, this.now) }]),
    );
    this.hosts = new Map(hosts.map((host) => [host.id, host]));
  }

  tunnel(id: number): KnownTunnel | undefined {
    return this.tunnels.get(id);
  }

  host(id: number): AgentHost | undefined {
    return this.hosts.get(id);
  }
}
