export type { DeliveryLog } from './report-delivery.js';
export { startTracing, type RunningTracing } from './start-tracing.js';
export {
  activeTracing,
  currentCarrier,
  currentTraceId,
  errorType,
  runSpan,
  setActiveTracing,
  traced,
  type SpanKind,
  type SpanStart,
  type SpanValues,
  type TraceCarrier,
  type TraceSpan,
  type Tracing,
} from './tracing.js';
export { isPair, readPairs, SAMPLERS, tracesUrl, type SamplerName, type TracingOptions } from './tracing-options.js';
