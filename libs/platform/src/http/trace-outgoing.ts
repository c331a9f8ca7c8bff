import { traced, type SpanStart, type TraceSpan } from '@gatehouse/tracing';
import { maskUrl } from '../logging/mask-url.js';

/**
 * A request of the service to another server, as a span of the current trace. Paths and queries of others may be secrets,
 * and the trace is not continued there: it is nobody's business outside the platform.
 */
export function traceOutgoing<T>(
  method: string,
  url: URL | string,
  work: (answered: (status: number) => void) => Promise<T>,
): Promise<T> {
  const start = (): SpanStart => {
    // One that is none fails in the request, as it does without a trace.
    const { hostname, port, protocol } = URL.parse(String(url)) ?? {};
    return {
      name: method,
      kind: 'client',
      values: {
        'http.request.method': method,
        'url.full': maskUrl(String(url)),
        'server.address': hostname,
        'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      },
    };
  };
  return traced(start, (span) => work((status) => noteStatus(span, status)));
}

function noteStatus(span: TraceSpan | null, status: number): void {
  span?.set({ 'http.response.status_code': status });
  if (status >= 400) span?.fail(String(status));
}

/** A question to a data plane of the platform, as a span of the current trace. */
export function traceCall<T>(program: 'kernel' | 'edge', method: string, work: () => Promise<T>): Promise<T> {
  const start = { name: `${program}/${method}`, kind: 'client' } as const;
  return traced(() => ({ ...start, values: { 'rpc.system.name': 'gatehouse', 'rpc.method': start.name } }), work);
}
