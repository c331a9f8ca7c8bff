import type { Server } from 'node:http';
import { HealthRegistry } from '../health/health-registry.js';
import type { INestApplication } from '@nestjs/common';
import { deferred } from '../async/deferred.js';

/**
 * Stops accepting, lets running requests finish until the deadline, cuts the rest, then closes the modules. Modules
 * close last, so that a running request still has its database.
 */
export async function shutdownGracefully(app: INestApplication, deadlineMs: number): Promise<void> {
  app.get(HealthRegistry, { strict: false }).startDraining();
  await drainServer(app.getHttpServer() as Server, deadlineMs);
  await app.close();
}

async function drainServer(server: Server, deadlineMs: number): Promise<void> {
  if (!server.listening) return;
  const { promise: closed, resolve } = deferred<void>();
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  server.close(() => resolve());
  server.closeIdleConnections();
  // A connection becomes idle after its last answer; close() alone would wait for its keep-alive time.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}
