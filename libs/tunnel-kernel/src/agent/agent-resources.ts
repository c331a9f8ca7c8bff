import type { AgentHost, AgentTunnel, ConfigMessage } from '../wire/messages.js';
import { DestinationRules } from './destination-rules.js';
import { TargetPicker } from './target-picker.js';

export interface KnownTunnel {
  tunnel: AgentTunnel;
  picker: TargetPicker;
  /** Of the proxy modes; empty: all that the agent allows. */
  destinations: DestinationRules;
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
    this.tunnels = new Map(tunnels.map((tunnel) => [tunnel.id, this.known(tunnel)]));
    this.hosts = new Map(hosts.map((host) => [host.id, host]));
  }

  private known(tunnel: AgentTunnel): KnownTunnel {
    const picker = new TargetPicker(tunnel.targets, this.now);
    return { tunnel, picker, destinations: readDestinations(tunnel.destinations) };
  }

  tunnel(id: number): KnownTunnel | undefined {
    return this.tunnels.get(id);
  }

  host(id: number): AgentHost | undefined {
    return this.hosts.get(id);
  }
}

/** Rules that cannot be read let nobody through: the server checks them, so these are of a later version. */
function readDestinations(patterns: readonly string[]): DestinationRules {
  try {
    return new DestinationRules(patterns);
  } catch {
    return new DestinationRules(['255.255.255.255/32:1']);
  }
}
