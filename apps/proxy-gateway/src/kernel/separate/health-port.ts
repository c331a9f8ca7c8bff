import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `/healthz` and `/readyz` on the loopback, for whoever watches the process. Resolves to the server and its port. */
export function openHealthPort(port: number, isReady: () => boolean): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    const ready = isReady();
    const known = request.url === '/healthz' || request.url === '/readyz';
    const ok = request.url === '/healthz' || ready;
    response.writeHead(known ? (ok ? 200 : 503) : 404, { 'Content-Type': 'application/json', Connection: 'close' });
    response.end(`${JSON.stringify({ status: ok ? 'ok' : 'waiting for a configuration' })}\n`);
  });
  server.headersTimeout = server.requestTimeout = 5_000;
  server.maxConnections = 32;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject).on('error', () => undefined);
      resolve({ server, port: (server.address() as AddressInfo).port });
    });
  });
}
