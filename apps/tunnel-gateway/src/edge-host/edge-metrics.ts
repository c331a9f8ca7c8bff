import { HealthRegistry, MetricsRegistry } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { EdgeStatus } from '../common/edge-ipc.js';
import { showEdge } from '../common/show-edge.js';
import { TunnelGatewaySettings } from '../settings.js';
import { Edges } from './edges.service.js';

const STAGES = ['silent', 'handshaking', 'unauthenticated'] as const;

/** Counters of the data plane for `/metrics` and `/readyz`. */
@Injectable()
export class EdgeMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly edges: Edges,
    private readonly metrics: MetricsRegistry,
    private readonly health: HealthRegistry,
    private readonly settings: TunnelGatewaySettings,
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
    const visitors = this.visitorGauges();
    // A separate edge shows its figures itself.
    if (this.settings.edge === 'own') showEdge(this.metrics, () => this.edges.status());
    this.metrics.onScrape(async () => {
      // Without an edge, the last values stay.
      const { agentPort, httpsPort, datagrams } = await this.status();
      if (agentPort) {
        for (const stage of STAGES) connections.set({ stage }, agentPort[stage]);
        evicted.set(agentPort.evicted);
      }
      visitors.handshakes.set(httpsPort?.handshaking ?? 0);
      visitors.resetHandshakes.set(httpsPort?.evicted ?? 0);
      visitors.sessions.set(datagrams?.sessions ?? 0);
      visitors.endedSessions.set(datagrams?.evicted ?? 0);
    });
    this.health.register('agent_port', () => this.checkAgentPort(), { degrades: true });
    this.health.register('https_port', () => this.checkHttpsPort(), { degrades: true });
  }

  private visitorGauges(): Record<
    'handshakes' | 'resetHandshakes' | 'sessions' | 'endedSessions',
    ReturnType<MetricsRegistry['gauge']>
  > {
    const { metrics } = this;
    return {
      handshakes: metrics.gauge('tunnel_https_handshakes', 'Visitors whose TLS handshake has not ended'),
      resetHandshakes: metrics.gauge(
        'tunnel_https_handshakes_evicted',
        'TLS handshakes of visitors that were reset to make room for others, since the edge started',
      ),
      sessions: metrics.gauge('tunnel_datagram_sessions', 'Sessions of visitors that send datagrams'),
      endedSessions: metrics.gauge(
        'tunnel_datagram_sessions_evicted',
        'Sessions of datagrams that ended because others needed their places, since the edge started',
      ),
    };
  }

  /** Empty: the edge does not answer, which its own check reports. Older edges report less. */
  private async status(): Promise<Partial<EdgeStatus>> {
    return (await this.edges.status().catch(() => null)) ?? {};
  }

  /** If a stage is full, connections are evicted, and agents may have to try more than once. */
  private async checkAgentPort(): Promise<void> {
    const { agentPort: state } = await this.status();
    const full = state && STAGES.find((stage) => state[stage] >= state.most);
    if (full) throw new Error(`the port for agents is full of connections that are ${full}`);
  }

  /** If it is full, handshakes are evicted, and browsers have to try again. */
  private async checkHttpsPort(): Promise<void> {
    const { httpsPort: state } = await this.status();
    if (state && state.handshaking >= state.most) throw new Error('the https port is full of unfinished handshakes');
  }
}
