import { createServer, type Server } from 'node:http';
import type { EdgeStatus } from '../edge-ipc.js';

/** What of an edge does not work; as `/readyz` of the service names it. */
export function problemsOf({ databaseAnswers, source, workers = [], problems = [] }: EdgeStatus): string[] {
  return [
    ...(workers.includes(null) ? ['a worker of the edge does not serve'] : []),
    ...(source === 'snapshot' ? ['the edge serves the last snapshot of the configuration'] : []),
    ...(source === 'database' && !databaseAnswers ? ['the edge has no database'] : []),
    ...problems,
  ];
}

/**
 * `/healthz`: the edge serves, whatever it serves from. `/readyz`: with the database behind it. 200, or 503 with the
 * problems. On the loopback alone. @throws Error of `listen`.
 */
export function serveHealth(port: number, status: () => Promise<EdgeStatus>): Promise<Server> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 1_000 });
  server.maxConnections = 64;
  server.on('request', (request, response) => {
    request.resume();
    const alive = request.url === '/healthz';
    if (!alive && request.url !== '/readyz') return void response.writeHead(404).end();
    void status()
      .then((found) => (alive ? [] : problemsOf(found)))
      .catch(() => ['the edge does not serve'])
      .then((problems) => {
        response.writeHead(problems.length === 0 ? 200 : 503, {
          'Content-Type': 'application/json',
          'Cache-Control': 'no-store',
        });
        response.end(JSON.stringify({ status: problems.length === 0 ? 'ok' : 'unavailable', problems }));
      });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server.off('error', reject).on('error', () => undefined)));
  });
}
