import { dataPlaneLoad, type MetricsRegistry, type ReadMetric } from '@gatehouse/platform';
import type { EdgeStatus } from './edge-ipc.js';

type Show<T> = (value: T) => void;

/**
 * Shows what an edge reports, one question for each scrape. The process that started the edge does so, and nobody else:
 * sums over all processes would count it twice.
 */
export function showEdge(metrics: MetricsRegistry, status: () => Promise<EdgeStatus>): void {
  const up = metrics.gauge('gatehouse_edge_up', 'Whether the edge answers: 1 or 0');
  const state = showState(metrics);
  const figures = showFigures(metrics);
  const load = dataPlaneLoad(metrics, 'edge');
  const all = [up, ...state.metrics, ...figures.metrics, ...load.metrics];
  const read = (): Promise<EdgeStatus | null> => status().catch(() => null);
  metrics.readOnScrape('edge', all, read, (answer) => {
    up.set(answer === null ? 0 : 1);
    if (answer === null) return;
    state.show(answer);
    figures.show(answer);
    // Absent from an edge of an older version.
    load.show(answer.load ?? []);
  });
}

interface Shown {
  readonly metrics: readonly ReadMetric[];
  readonly show: Show<EdgeStatus>;
}

function showState(metrics: MetricsRegistry): Shown {
  const agents = metrics.gauge('gatehouse_tunnel_agents_online', 'Agents that are connected to the edge');
  const connections = metrics.gauge('gatehouse_tunnel_connections', 'Connections of visitors that are open now');
  const database = metrics.gauge('gatehouse_edge_database_up', 'Whether the database answers the edge: 1 or 0');
  const snapshot = metrics.gauge(
    'gatehouse_edge_serves_snapshot',
    '1: the edge serves the last known configuration, because it could not read the current one; otherwise 0',
  );
  const missing = metrics.gauge('gatehouse_edge_workers_down', 'Workers of the edge that do not serve');
  return {
    metrics: [agents, connections, database, snapshot, missing],
    show: (status) => {
      agents.set(status.agents);
      connections.set(status.connections);
      database.set(status.databaseAnswers ? 1 : 0);
      snapshot.set(status.source === 'snapshot' ? 1 : 0);
      missing.set((status.workers ?? []).filter((pid) => pid === null).length);
    },
  };
}

function showFigures(metrics: MetricsRegistry): Shown {
  const opened = metrics.counter(
    'gatehouse_tunnel_connections_total',
    'Connections and requests of visitors that were admitted, by what they came for',
    ['kind'],
  );
  const bytes = metrics.counter(
    'gatehouse_tunnel_bytes_total',
    'Bytes carried for visitors; upload: from the visitor, download: to the visitor',
    ['kind', 'direction'],
  );
  const refusals = metrics.counter('gatehouse_tunnel_refusals_total', 'Visitors that were refused, by reason', [
    'reason',
  ]);
  return {
    metrics: [opened, bytes, refusals],
    show: ({ figures }) => {
      if (figures === undefined) return;
      for (const [kind, { connections, upload, download }] of Object.entries(figures.carried)) {
        opened.inc({ kind }, connections);
        bytes.inc({ kind, direction: 'upload' }, upload);
        bytes.inc({ kind, direction: 'download' }, download);
      }
      for (const [reason, count] of Object.entries(figures.refusals)) refusals.inc({ reason }, count);
    },
  };
}
