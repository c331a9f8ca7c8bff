/** OpenTelemetry's kinds of spans. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** Names of OpenTelemetry's conventions, or of our own with `gatehouse.` before them. Undefined ones are left out. */
export type SpanValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** W3C trace context: what another process needs to continue a trace. */
export interface TraceCarrier {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly values?: SpanValues;
  /** Where the trace comes from; `none`: it begins here. Default: the span that is active. */
  readonly parent?: TraceCarrier | 'none' | undefined;
  /** Milliseconds since the epoch, for work that began before. Default: now. */
  readonly startedAt?: number;
}

export interface TraceSpan {
  /** False: it is part of a trace that is not recorded, and values of it are lost. */
  readonly isRecording: boolean;
  rename(name: string): void;
  set(values: SpanValues): void;
  /**
   * Marks the work as failed. `type` is one of few: a code or the name of an error, never its message. Only the first
   * call counts.
   */
  fail(type: string): void;
  /** `at`: milliseconds since the epoch. Default: now. */
  end(at?: number): void;
}

/** The spans of this process, while tracing is on. */
export interface Tracing {
  start(span: SpanStart): TraceSpan;
  /** Runs work as part of a span: spans that start in it are its children. */
  within<T>(span: TraceSpan, work: () => T): T;
  /** Whether the code that runs now is part of a trace that is recorded. */
  isRecording(): boolean;
  /** The trace of the code that runs now. */
  traceId(): string | undefined;
  /** What continues the current trace in another process. */
  carrier(): TraceCarrier | undefined;
}

let current: Tracing | null = null;

/** Null while tracing is off. Then OpenTelemetry's SDK is not loaded, and this check is the only cost. */
export function activeTracing(): Tracing | null {
  return current;
}

/** For `startTracing`, and for tests. */
export function setActiveTracing(tracing: Tracing | null): void {
  current = tracing;
}

/** For log lines. */
export function currentTraceId(): string | undefined {
  return current?.traceId();
}

/** The current trace for what is stored or sent, such as a job; undefined if there is nothing to continue. */
export function currentCarrier(): TraceCarrier | undefined {
  return current?.carrier();
}

/**
 * Work as a span of the current trace. Work outside a trace has none: what a process does for itself would be traces of
 * one span.
 */
export function traced<T>(start: () => SpanStart, work: (span: TraceSpan | null) => Promise<T>): Promise<T> {
  return current?.isRecording() ? runSpan(current, start(), work) : work(null);
}

/** Runs work as a span, and ends it with the work. */
export async function runSpan<T>(
  tracing: Tracing,
  start: SpanStart,
  work: (span: TraceSpan) => Promise<T>,
): Promise<T> {
  const span = tracing.start(start);
  try {
    return await tracing.within(span, () => work(span));
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The code or the name of an error. Its message may contain what a client sent. */
export function errorType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && /^\w{1,64}$/.test(code)) return code;
  return typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : 'unknown';
}
