import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { explainListenError, type JsonLogger, StartError } from '@gatehouse/platform';
import type { TunnelGatewaySettings } from '../settings.js';
import { EdgeDatabase } from '../common/edge-database.js';
import { EdgeLauncher } from './edge-launcher.js';
import { edgeFolder, startEdge, type RunningEdge } from './start-edge.js';

const RETRY_MS = 1_000;

/** Whether a start failed only because of the database, and there is a snapshot to serve from. */
export function canServeWithout(error: unknown, { home }: Readonly<TunnelGatewaySettings>): boolean {
  const folder = edgeFolder(home);
  return (
    error instanceof StartError &&
    error.message.startsWith('DATABASE_URL:') &&
    ['snapshot.json', 'identity.json'].every((file) => existsSync(join(folder, file)))
  );
}

/**
 * Serves tunnels and hosts from the last snapshot until the database answers, and reports that on the service's own
 * port. The service that starts then takes over the edge. @throws StartError when a port is taken.
 */
export async function serveUntilDatabase(
  settings: Readonly<TunnelGatewaySettings>,
  logger: JsonLogger,
): Promise<RunningEdge> {
  logger.warn('the database is away: serving the last snapshot of the configuration', 'Edge');
  const database = new EdgeDatabase(settings.databaseUrl);
  const running = await startEdge({ settings, logger, launcher: new EdgeLauncher(), queries: database });
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, stop);
  const standIn = await listenInstead(settings);
  while (!stopping.signal.aborted && !(await answers(database))) {
    await delay(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
  await new Promise((resolve) => {
    standIn.close(resolve);
    standIn.closeAllConnections();
  });
  await database.close();
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.off(event, stop);
  if (stopping.signal.aborted) {
    await running.link.stop(settings.shutdownTimeoutMs);
    process.exit(0);
  }
  return running;
}

async function answers(database: EdgeDatabase): Promise<boolean> {
  try {
    await database.query('SELECT 1');
    return true;
  } catch {
    // The settings are still the same.
    return false;
  }
}

/** Alive but not ready: requests to the API are answered with an error. */
function listenInstead({ port, bindAddress }: Readonly<TunnelGatewaySettings>): Promise<Server> {
  const server = createServer({ headersTimeout: 15_000, requestTimeout: 30_000 }, (request, response) => {
    request.resume();
    const alive = request.url === '/healthz';
    const body =
      request.url === '/readyz' || alive
        ? { status: alive ? 'ok' : 'unavailable', ...(!alive && { failing: ['database', 'edge'], checks: {} }) }
        : { type: '/docs/errors#service_unavailable', title: 'The service cannot answer now', status: 503 };
    response.writeHead(alive ? 200 : 503, {
      'Content-Type': 'type' in body ? 'application/problem+json' : 'application/json',
      'Cache-Control': 'no-store',
      'Retry-After': '1',
    });
    response.end(JSON.stringify({ ...body, ...('type' in body && { code: 'service_unavailable' }) }));
  });
  const target = { port, portVariable: 'TUNNEL_GATEWAY_PORT', address: bindAddress };
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(explainListenError(cause, target)));
    server.listen(port, bindAddress, () => resolve(server));
  });
}
