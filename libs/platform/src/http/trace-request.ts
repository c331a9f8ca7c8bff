import { activeTracing, type SpanValues, type TraceCarrier, type Tracing } from '@gatehouse/tracing';
import type { Request } from 'express';
import type { Exchange } from './exchange.js';
import { knownMethod, routeOf, UNMATCHED } from './request-labels.js';

/** Asked by programs every few seconds: their traces would be most of all traces. */
const WATCHERS = new Set(['/healthz', '/readyz', '/metrics']);

/** Runs the rest of a request as a span, if tracing is on. It continues the trace of the client. */
export function traceRequest(request: Request, exchange: Exchange, next: () => void): void {
  const tracing = activeTracing();
  if (tracing === null || WATCHERS.has(request.path)) next();
  else inSpan(tracing, request, exchange, next);
}

function inSpan(tracing: Tracing, request: Request, exchange: Exchange, next: () => void): void {
  const method = knownMethod(request.method);
  // Read now: which proxies are trusted depends on the socket, which is gone at the end.
  const values = { 'url.scheme': request.protocol };
  const span = tracing.start({ name: method ?? 'HTTP', kind: 'server', parent: carrierOf(request), values });
  exchange.observe((status, _milliseconds, { errorCode }) => {
    const route = routeOf(request);
    if (route !== UNMATCHED) span.rename(`${method ?? 'HTTP'} ${route}`);
    span.set(valuesOf(request, exchange.requestId, { status, route, errorCode }));
    if (status >= 500) span.fail(errorCode ?? String(status));
    span.end();
  });
  tracing.within(span, next);
}

function carrierOf({ headers: { traceparent, tracestate } }: Request): TraceCarrier | 'none' {
  if (typeof traceparent !== 'string') return 'none';
  return { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) };
}

interface Ended {
  readonly status: number;
  readonly route: string;
  readonly errorCode: string | undefined;
}

function valuesOf(request: Request, requestId: string, { status, route, errorCode }: Ended): SpanValues {
  return {
    'http.request.method': knownMethod(request.method) ?? '_OTHER',
    'http.response.status_code': status,
    'http.route': route === UNMATCHED ? undefined : route,
    'url.path': maskedPath(request.path, route),
    'network.protocol.version': request.httpVersion,
    'gatehouse.request_id': requestId,
    'gatehouse.error_code': errorCode,
  };
}

const MASK = '***';

/** Ids, but not names, codes and tokens, which may be secrets. */
const ID = /^(?:\d{1,19}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** A path whose variable parts are shown only if they are ids. What matches no route may be anything. */
export function maskedPath(path: string, route: string): string {
  const [parts, names] = [path.split('/'), route.split('/')];
  if (parts.length !== names.length) return path === '/' ? path : `/${MASK}`;
  return parts.map((part, index) => (part === names[index] || ID.test(part) ? part : MASK)).join('/');
}
