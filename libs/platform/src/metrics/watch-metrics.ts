import type { Server } from 'node:http';
import { serveWatchers, type WatchRoutes } from '../http/watch-server.js';
import { isLocalRequest } from './metrics-access.js';

/** Prometheus text. */
export interface RenderedMetrics {
  readonly contentType: string;
  readonly text: string;
}

/** Whatever renders metrics: a registry, or a program without one. */
export type RenderMetrics = () => Promise<RenderedMetrics>;

/** `/metrics` beside health checks on the loopback: for programs of this machine, as on the port of a service. */
export function localMetrics(render: RenderMetrics): WatchRoutes {
  return { '/metrics': async (request) => (isLocalRequest(request) ? { status: 200, ...(await render()) } : null) };
}

/** `/metrics` on a port of its own, for everybody who reaches it. @throws Error of `listen`. */
export function serveMetrics(target: { port: number; address: string }, render: RenderMetrics): Promise<Server> {
  return serveWatchers(target, { '/metrics': async () => ({ status: 200, ...(await render()) }) });
}
