import type { Request } from 'express';
import type { AnswerObserver } from '../http/exchange.js';
import type { MetricsRegistry } from './metrics-registry.js';

/** Measures every request from its first middleware to the last byte passed to the socket. */
export function observeRequests(metrics: MetricsRegistry): (request: Request) => AnswerObserver {
  return (request) => (status, milliseconds) =>
    metrics.observeRequest(knownMethod(request.method), routeOf(request), status, milliseconds / 1e3);
}

function routeOf(request: Request): string {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : 'unmatched';
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Clients choose the text of the method; labels must not grow with it. */
function knownMethod(method: string): string {
  return METHODS.has(method) ? method : 'other';
}
