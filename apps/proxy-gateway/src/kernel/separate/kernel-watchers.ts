import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  jsonAnswer,
  localMetrics,
  MetricsRegistry,
  serveMetrics,
  serveWatchers,
  StartError,
  type WatchRoutes,
} from '@gatehouse/platform';
import type { ProxyKernel } from '@gatehouse/proxy-kernel';
import { showKernel } from '../../common/show-kernel.js';
import type { SeparateKernelSettings } from './settings.js';

export interface Watcher {
  readonly server: Server;
  readonly port: number;
}

/**
 * `/healthz` and `/readyz`, and `/metrics`: on a port of its own, or for programs of this machine beside
 * them. @throws StartError if a port is taken.
 */
export async function openWatchers(
  { kernelHealthPort, kernelHealthAddress, kernelMetricsPort, metricsAddress }: Readonly<SeparateKernelSettings>,
  kernel: ProxyKernel,
  state: () => string,
): Promise<[Watcher, ...Watcher[]]> {
  const metrics = new MetricsRegistry();
  showKernel(metrics, () => Promise.resolve(kernel.status()));
  metrics.countFlowFailures('kernel', () => kernel.status().flowFailuresTotal);
  const render = (): ReturnType<MetricsRegistry['render']> => metrics.render();
  const routes = healthRoutes(state);
  const target = { port: kernelHealthPort, address: kernelHealthAddress };
  if (kernelMetricsPort === undefined) {
    return [
      await listening(
        'PROXY_KERNEL_HEALTH_PORT',
        target.port,
        serveWatchers(target, { ...routes, ...localMetrics(render) }),
      ),
    ];
  }
  const own = serveMetrics({ port: kernelMetricsPort, address: metricsAddress }, render);
  const metricsWatcher = await listening('PROXY_KERNEL_METRICS_PORT', kernelMetricsPort, own);
  return [await listening('PROXY_KERNEL_HEALTH_PORT', target.port, serveWatchers(target, routes)), metricsWatcher];
}

/** @param state `ok`, or why the kernel accepts no connections. */
function healthRoutes(state: () => string): WatchRoutes {
  return {
    '/healthz': () => jsonAnswer(200, { status: state() }),
    '/readyz': () => jsonAnswer(state() === 'ok' ? 200 : 503, { status: state() }),
  };
}

async function listening(variable: string, asked: number, server: Promise<Server>): Promise<Watcher> {
  try {
    const bound = await server;
    return { server: bound, port: (bound.address() as AddressInfo).port };
  } catch (cause) {
    throw new StartError(`${variable}: port ${asked} is not available`, `${variable}: 端口 ${asked} 不可用`, { cause });
  }
}
