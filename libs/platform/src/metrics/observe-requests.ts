import type { Request, RequestHandler } from 'express';
import type { MetricsRegistry } from './metrics-registry.js';

/** Measures every request from its first middleware to the last byte handed to the socket. */
export function observeRequests(metrics: MetricsRegistry): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.observeRequest(
        knownMethod(request.method),
        routeOf(request),
        status,
        (performance.now() - started) / 1e3,
      );
    });
    next();
  };
}

function routeOf(request: Request): string {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : 'unmatched';
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Clients choose the method's text; labels must not grow with it. */
function knownMethod(method: string): string {
  return METHODS.has(method) ? method : 'other';
}
