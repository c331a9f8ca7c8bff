import { dataPlaneLoad, type MetricsRegistry, type ReadMetric } from '@gatehouse/platform';
import type { KernelStatus } from '@gatehouse/proxy-kernel';

/**
 * Shows what a kernel reports, one question for each scrape. The process that started the kernel does so, and nobody else:
 * sums over all processes would count it twice. `status` resolves to null while no kernel answers.
 */
export function showKernel(metrics: MetricsRegistry, status: () => Promise<KernelStatus | null>): void {
  const up = metrics.gauge('gatehouse_kernel_up', 'Whether the kernel answers: 1 or 0');
  const generation = metrics.gauge('gatehouse_kernel_generation', 'Number of the configuration that the kernel uses');
  const connections = metrics.gauge('gatehouse_proxy_connections', 'Connections through the proxy that are open now');
  const counts = showCounts(metrics);
  const load = dataPlaneLoad(metrics, 'kernel');
  const all = [up, generation, connections, ...counts.metrics, ...load.metrics];
  metrics.readOnScrape('kernel', all, status, (answer) => {
    up.set(answer === null ? 0 : 1);
    if (answer === null) return;
    generation.set(answer.generation);
    connections.set(answer.activeConnections);
    counts.show(answer);
    load.show(answer.load === undefined ? [] : [answer.load]);
  });
}

function showCounts(metrics: MetricsRegistry): {
  metrics: readonly ReadMetric[];
  show: (status: KernelStatus) => void;
} {
  const opened = metrics.counter(
    'gatehouse_proxy_connections_total',
    'Connections that clients opened through the proxy',
  );
  const failed = metrics.counter(
    'gatehouse_proxy_connection_failures_total',
    'Connections through the proxy that failed',
    ['reason'],
  );
  const rejected = metrics.counter(
    'gatehouse_proxy_refusals_total',
    'Connections that a rule, or the protection of the platform and of private addresses, rejected',
  );
  const bytes = metrics.counter(
    'gatehouse_proxy_bytes_total',
    'Bytes carried through the proxy; upload: from the client, download: to the client',
    ['direction'],
  );
  return {
    metrics: [opened, failed, rejected, bytes],
    show: (status) => {
      opened.inc(status.openedTotal);
      // Another kernel may not say why connections failed.
      const failures = Object.entries(status.failuresByKind ?? { other: status.failedTotal });
      for (const [reason, count] of failures) failed.inc({ reason }, count);
      rejected.inc(status.rejectedTotal ?? 0);
      bytes.inc({ direction: 'upload' }, status.uploadTotal);
      bytes.inc({ direction: 'download' }, status.downloadTotal);
    },
  };
}
