import type { Server } from 'node:http';
import { jsonAnswer, serveWatchers, type WatchRoutes } from '../http/watch-server.js';
import type { HealthRegistry } from './health-registry.js';

export const HEALTH_ADDRESS = '127.0.0.1';

/**
 * `/healthz` (200 while the process runs) and `/readyz` (200, or 503 with what fails) of a process that serves nothing
 * else, on the loopback address. `others`: further paths of the port. @throws Error of `listen`
 */
export function serveHealth(port: number, health: HealthRegistry, others: WatchRoutes = {}): Promise<Server> {
  return serveWatchers(
    { port, address: HEALTH_ADDRESS },
    {
      ...others,
      '/healthz': () => jsonAnswer(200, { status: 'ok' }),
      '/readyz': async () => {
        const report = await health.report();
        return jsonAnswer(report.status === 'unavailable' ? 503 : 200, report);
      },
    },
  );
}
