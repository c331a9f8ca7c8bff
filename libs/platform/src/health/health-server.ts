import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { HealthRegistry } from './health-registry.js';

export const HEALTH_ADDRESS = '127.0.0.1';

/**
 * `/healthz` (200 while the process runs) and `/readyz` (200, or 503 with what fails) of a process that serves nothing else,
 * on the loopback. @throws Error of `listen`.
 */
export async function serveHealth(port: number, health: HealthRegistry): Promise<Server> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 1_000 });
  server.maxConnections = 64;
  server.on('request', (request, response) => {
    request.resume();
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/healthz') answer(200, { status: 'ok' });
    else if (request.url !== '/readyz') answer(404, { status: 'unknown' });
    else void health.report().then((report) => answer(report.status === 'unavailable' ? 503 : 200, report));
  });
  server.listen(port, HEALTH_ADDRESS);
  await once(server, 'listening');
  server.on('error', () => undefined);
  return server;
}
