import type { ProcessLoad } from '@gatehouse/net';
import type { ReadMetric, MetricsRegistry } from './metrics-registry.js';

/** Metrics of a data plane that is a process of its own, or several. */
export interface DataPlaneLoad {
  readonly metrics: readonly ReadMetric[];
  /** One entry for each process. */
  show(processes: readonly ProcessLoad[]): void;
}

/** @param process `kernel` or `edge`. */
export function dataPlaneLoad(registry: MetricsRegistry, process: string): DataPlaneLoad {
  const labels = ['process'] as const;
  const memory = registry.gauge(
    'gatehouse_data_plane_resident_memory_bytes',
    'Memory of a data plane, all its processes together',
    labels,
  );
  const busy = registry.gauge(
    'gatehouse_data_plane_busy_ratio',
    'Share of the time in which the event loop of the busiest process of a data plane worked, in the last ten seconds',
    labels,
  );
  const delayP99 = registry.gauge(
    'gatehouse_data_plane_event_loop_delay_p99_seconds',
    'How late timers of a data plane ran in the last ten seconds; 99 of 100 were not later, in the slowest process',
    labels,
  );
  const delayMost = registry.gauge(
    'gatehouse_data_plane_event_loop_delay_max_seconds',
    'The latest timer of a data plane in the last ten seconds',
    labels,
  );
  const most = (values: number[]): number => Math.max(0, ...values);
  return {
    metrics: [memory, busy, delayP99, delayMost],
    show(processes) {
      if (processes.length === 0) return;
      memory.set(
        { process },
        processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
      );
      busy.set({ process }, most(processes.map((one) => one.busy)));
      delayP99.set({ process }, most(processes.map((one) => one.delayP99)));
      delayMost.set({ process }, most(processes.map((one) => one.delayMost)));
    },
  };
}
