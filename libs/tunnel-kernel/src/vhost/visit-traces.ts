/** A request of a visitor that a host has admitted. */
export interface TracedVisit {
  hostId: number;
  clientId: number;
  /** The name and location of the host as configured, not as the visitor wrote them. */
  host: string;
  location: string;
  method: string;
  scheme: 'http' | 'https';
  /** `1.0`, `1.1` or `2`. */
  version: string;
  /** W3C trace context of the visitor, as received; undefined: there is none. */
  traceparent: string | undefined;
  tracestate: string | undefined;
}

/** A visit that is being observed. */
export interface VisitTrace {
  /** What the target gets instead of the visitor's own trace context: name, value, name, value … */
  readonly fields: readonly string[];
  /** Called once. `status`: of the answer; null: none was begun. `failure`: why it is incomplete; null: it is complete. */
  end(status: number | null, failure: string | null): void;
}

/** Begins to observe a visit. A server without it does nothing for that. */
export type TraceVisit = (visit: TracedVisit) => VisitTrace;

/** Names of the fields in which a trace travels (W3C Trace Context, 3.2 and 3.3). */
export const TRACE_FIELDS: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);
