import { HealthRegistry, MetricsRegistry } from '@gatehouse/platform';
import type { AgentPortState } from '@gatehouse/tunnel-kernel';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Edges } from './edges.service.js';

const STAGES = ['silent', 'handshaking', 'unauthenticated'] as const;

/** What the data plane counts, for `/metrics` and `/readyz`. */
@Injectable()
export class EdgeMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly edges: Edges,
    private readonly metrics: MetricsRegistry,
    private readonly health: HealthRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const connections = this.metrics.gauge(
      'tunnel_agent_port_unknown_connections',
      'Connections to the port for agents that have not shown a key yet, by stage',
      ['stage'],
    );
    const evicted = this.metrics.gauge(
      'tunnel_agent_port_evicted',
      'Connections to the port for agents that were reset to make room for others, since the edge started',
    );
    this.metrics.onScrape(async () => {
      // Without an edge the last numbers stay.
      const state = await this.state();
      if (!state) return;
      for (const stage of STAGES) connections.set({ stage }, state[stage]);
      evicted.set(state.evicted);
    });
    this.health.register('agent_port', () => this.check(), { degrades: true });
  }

  /** Undefined: the edge does not answer, which its own check says, or is of an older version. */
  private async state(): Promise<AgentPortState | undefined> {
    return (await this.edges.status().catch(() => null))?.agentPort;
  }

  /** A full stage means that connections are reset to make room: agents may have to try more than once. */
  private async check(): Promise<void> {
    const state = await this.state();
    const full = state && STAGES.find((stage) => state[stage] >= state.most);
    if (full) throw new Error(`the port for agents is full of connections that are ${full}`);
  }
}
