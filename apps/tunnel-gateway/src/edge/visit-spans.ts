import type { SpanValues, Tracing } from '@gatehouse/tracing';
import type { TracedVisit, TraceVisit } from '@gatehouse/tunnel-kernel';

/** RFC 9110 and PATCH: other methods are whatever a visitor wrote. */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

/** Makes each visit of a host a span, which continues the visitor's trace and is continued by the target. */
export function visitSpans(tracing: Tracing): TraceVisit {
  return (visit) => {
    const { traceparent, tracestate } = visit;
    const method = METHODS.has(visit.method) ? visit.method : 'HTTP';
    const span = tracing.start({
      name: `${method} ${visit.location}`,
      kind: 'server',
      parent: traceparent === undefined ? 'none' : { traceparent, tracestate },
      values: valuesOf(visit),
    });
    const carrier = tracing.within(span, () => tracing.carrier());
    return {
      fields: carrier ? Object.entries(carrier).flat() : [],
      end: (status, failure) => {
        span.set({ 'http.response.status_code': status ?? undefined });
        const problem = failure ?? (status === null ? 'no_answer' : status >= 500 ? String(status) : null);
        if (problem !== null) span.fail(problem);
        span.end();
      },
    };
  };
}

/** Of the address only what an administrator configured: the rest of the path, and the query, may be secrets. */
function valuesOf({ hostId, clientId, host, location, method, scheme, version }: TracedVisit): SpanValues {
  return {
    'http.request.method': METHODS.has(method) ? method : '_OTHER',
    'http.route': location,
    'network.protocol.name': 'http',
    'network.protocol.version': version,
    'server.address': host,
    'url.path': location === '/' ? '/***' : `${location}/***`,
    'url.scheme': scheme,
    'gatehouse.host_id': hostId,
    'gatehouse.client_id': clientId,
  };
}
