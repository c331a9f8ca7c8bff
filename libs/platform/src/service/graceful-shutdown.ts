import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { HealthRegistry } from '../health/health-registry.js';
import type { INestApplication } from '@nestjs/common';
import { deferred } from '../async/deferred.js';

export interface ShutdownTimes {
  /** How long it is not ready but still accepts requests, so that load balancers notice first. */
  delayMs: number;
  /** How long running requests have after that. */
  deadlineMs: number;
}

/**
 * Stops accepting, lets running requests finish until the deadline, cuts the rest, then closes the modules. Modules
 * close last, so that a running request still has its database.
 */
export async function shutdownGracefully(app: INestApplication, { delayMs, deadlineMs }: ShutdownTimes): Promise<void> {
  const server = app.getHttpServer() as Server;
  app.get(HealthRegistry, { strict: false }).startDraining();
  if (server.listening) {
    // Each connection ends with an answer. A request on one that closes while it is idle would be lost.
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    if (delayMs > 0) await delay(delayMs);
    await drainServer(server, deadlineMs);
  }
  await app.close();
}

async function drainServer(server: Server, deadlineMs: number): Promise<void> {
  const { promise: closed, resolve } = deferred<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  // A connection becomes idle after its last answer; close() alone would wait for its keep-alive time.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}
