import { activeTracing, type SpanValues } from '@gatehouse/tracing';

/** Work of another process, which reported it when it had ended. */
export interface PastWork {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly values: SpanValues;
  /** What it failed with: one of few codes. Null: it did not. */
  readonly failure: string | null;
}

/** Makes each of them a trace of its own; null while tracing is off. */
export function pastTraces(): ((work: PastWork) => void) | null {
  const tracing = activeTracing();
  if (tracing === null) return null;
  return ({ name, startedAt, endedAt, values, failure }) => {
    const span = tracing.start({ name, kind: 'server', parent: 'none', startedAt, values });
    if (failure !== null) span.fail(failure);
    span.end(endedAt);
  };
}
