import { setFlowTimeout } from '@gatehouse/net';
import type { AgentHost, AgentTunnel, ConfigMessage } from '../wire/messages.js';
import type { Start } from '../wire/prelude.js';
import { DestinationRules } from './destination-rules.js';
import { PortTargets } from './port-targets.js';

/** Configurations are sent beside the channels: the first visitor of a new tunnel may arrive earlier. */
const OVERTAKEN_MS = 3000;

/** What a visitor must be connected to. */
export type WantedResource = Pick<Start, 'kind' | 'id' | 'target' | 'destination'>;

interface Waiter {
  wanted: WantedResource;
  resolve: () => void;
}

export interface KnownTunnel {
  tunnel: AgentTunnel;
  targets: PortTargets;
  /** Only for proxy modes; empty: everything the agent allows. */
  destinations: DestinationRules;
}

/** The resources that the server sent to this agent. */
export class AgentResources {
  private readonly now: () => number;
  private tunnels = new Map<number, KnownTunnel>();
  private hosts = new Map<number, AgentHost>();
  private readonly waiters = new Set<Waiter>();

  constructor(now: () => number) {
    this.now = now;
  }

  configure({ tunnels, hosts }: Pick<ConfigMessage, 'tunnels' | 'hosts'>): void {
    this.tunnels = new Map(tunnels.map((tunnel) => [tunnel.id, this.known(tunnel)]));
    this.hosts = new Map(hosts.map((host) => [host.id, host]));
    for (const { wanted, resolve } of this.waiters) if (this.has(wanted)) resolve();
  }

  /**
   * Resolves when the resource is known, or the wait for it is over. Null: it is known, so the visitor need not wait
   * for a turn of the event loop.
   */
  arrival(wanted: WantedResource): Promise<void> | null {
    if (this.has(wanted)) return null;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
        resolve();
      };
      const waiter = { wanted, resolve: done };
      const timer = setFlowTimeout(null, done, OVERTAKEN_MS).unref();
      this.waiters.add(waiter);
    });
  }

  private has({ kind, id, target, destination }: WantedResource): boolean {
    if (kind === 'tunnel') return this.tunnels.get(id)?.targets.lead(destination) === true;
    return kind !== 'host' || this.hosts.get(id)?.targets[target ?? 0] !== undefined;
  }

  private known(tunnel: AgentTunnel): KnownTunnel {
    const targets = new PortTargets(tunnel, this.now);
    return { tunnel, targets, destinations: readDestinations(tunnel.destinations) };
  }

  tunnel(id: number): KnownTunnel | undefined {
    return this.tunnels.get(id);
  }

  host(id: number): AgentHost | undefined {
    return this.hosts.get(id);
  }
}

/** Unreadable rules let nobody through: the server checks rules, so these belong to a newer version. */
function readDestinations(patterns: readonly string[]): DestinationRules {
  try {
    return new DestinationRules(patterns);
  } catch {
    return new DestinationRules(['255.255.255.255/32:1']);
  }
}
