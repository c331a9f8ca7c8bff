import type { Request } from 'express';
import type { AnswerObserver } from '../http/exchange.js';
import { knownMethod, routeOf } from '../http/request-labels.js';
import type { MetricsRegistry } from './metrics-registry.js';

/** Measures every request from its first middleware to the last byte passed to the socket. */
export function observeRequests(metrics: MetricsRegistry): (request: Request) => AnswerObserver {
  return (request) => (status, milliseconds) =>
    metrics.observeRequest(knownMethod(request.method) ?? 'other', routeOf(request), status, milliseconds / 1e3);
}
