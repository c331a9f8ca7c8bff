import { randomUUID } from 'node:crypto';
import {
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { reportDelivery, type DeliveryLog } from './report-delivery.js';
import type { SpanKind, SpanStart, SpanValues, TraceCarrier, TraceSpan, Tracing } from './tracing.js';
import type { TracingOptions } from './tracing-options.js';

/** More are dropped while the receiver is slow or away; two thousand take some MiB. */
const MOST_WAITING = 2_048;
const MOST_IN_BATCH = 512;
const SEND_EVERY_MS = 2_000;
const LAST_SPANS_MS = 2_000;
/** A statement is the longest value. */
const MOST_CHARACTERS = 4_096;

const KINDS: Readonly<Record<SpanKind, Kind>> = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
  internal: Kind.INTERNAL,
};

/** The only file that loads OpenTelemetry. */
export class OpenTelemetryTracing implements Tracing {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly propagator = new W3CTraceContextPropagator();

  constructor(options: TracingOptions, log: DeliveryLog) {
    const exporter = new OTLPTraceExporter({ url: options.url, headers: { ...options.headers } });
    this.provider = new TracerProvider({
      sampler: samplerOf(options),
      resource: resourceOf(options),
      spanLimits: { attributeValueLengthLimit: MOST_CHARACTERS },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: reportDelivery(exporter, log),
          maxQueueSize: MOST_WAITING,
          maxExportBatchSize: MOST_IN_BATCH,
          scheduledDelayMillis: SEND_EVERY_MS,
        }),
      ],
    });
    this.tracer = this.provider.getTracer('gatehouse');
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  start({ name, kind, values, parent, startedAt }: SpanStart): TraceSpan {
    const within = parent === undefined ? context.active() : this.contextOf(parent);
    const options = { kind: KINDS[kind], ...(startedAt === undefined ? {} : { startTime: startedAt }) };
    const span = new OpenTelemetrySpan(this.tracer.startSpan(name, options, within), within);
    if (values !== undefined) span.set(values);
    return span;
  }

  within<T>(span: TraceSpan, work: () => T): T {
    return span instanceof OpenTelemetrySpan ? context.with(span.context, work) : work();
  }

  isRecording(): boolean {
    return trace.getActiveSpan()?.isRecording() === true;
  }

  traceId(): string | undefined {
    const found = trace.getSpanContext(context.active());
    return found !== undefined && isSpanContextValid(found) ? found.traceId : undefined;
  }

  carrier(): TraceCarrier | undefined {
    const carrier: { traceparent?: string; tracestate?: string } = {};
    this.propagator.inject(context.active(), carrier, defaultTextMapSetter);
    const { traceparent, tracestate } = carrier;
    return traceparent === undefined ? undefined : { traceparent, ...(tracestate ? { tracestate } : {}) };
  }

  async stop(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LAST_SPANS_MS);
    await Promise.race([this.provider.shutdown().catch(() => undefined), late.promise]);
    clearTimeout(timer);
    context.disable();
  }

  /** An invalid carrier begins a new trace. */
  private contextOf(carrier: TraceCarrier | 'none'): Context {
    return carrier === 'none' ? ROOT_CONTEXT : this.propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
  }
}

class OpenTelemetrySpan implements TraceSpan {
  readonly isRecording: boolean;
  readonly context: Context;
  private readonly span: Span;
  private hasFailed = false;

  constructor(span: Span, parent: Context) {
    this.span = span;
    this.isRecording = span.isRecording();
    this.context = trace.setSpan(parent, span);
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  set(values: SpanValues): void {
    if (!this.isRecording) return;
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined) this.span.setAttribute(name, value);
    }
  }

  fail(type: string): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.set({ 'error.type': type });
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(at?: number): void {
    this.span.end(at);
  }
}

function resourceOf({ serviceName, resource }: TracingOptions): Resource {
  const own = {
    'service.namespace': 'gatehouse',
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
    ...resource,
    'service.name': serviceName,
  };
  return defaultResource().merge(resourceFromAttributes(own));
}

function samplerOf({ sampler, ratio }: TracingOptions): Sampler {
  const root = sampler.replace('parentbased_', '');
  const made =
    root === 'always_off'
      ? new AlwaysOffSampler()
      : root === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return root === sampler ? made : new ParentBasedSampler({ root: made });
}
