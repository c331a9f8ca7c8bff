import type { QueueName } from '@gatehouse/contracts';
import { activeTracing, currentCarrier, runSpan, traced, type SpanValues, type TraceCarrier } from '@gatehouse/tracing';
import type { Job, JobsOptions } from 'bullmq';

/** The trace that a job continues, where BullMQ has a place for it, in either store. Nothing outside a trace. */
export function jobTrace(): Pick<JobsOptions, 'telemetry'> {
  const carrier = currentCarrier();
  return carrier === undefined ? {} : { telemetry: { metadata: JSON.stringify(carrier) } };
}

/** Queues a job as part of the current trace. `send` resolves to the id of the job. */
export function traceSend(
  queue: QueueName,
  send: (trace: Pick<JobsOptions, 'telemetry'>) => Promise<string>,
): Promise<string> {
  const start = { name: `send ${queue}`, kind: 'producer', values: valuesOf(queue, 'send') } as const;
  return traced(
    () => start,
    async (span) => {
      const id = await send(jobTrace());
      span?.set({ 'messaging.message.id': id });
      return id;
    },
  );
}

/** Runs a job as part of the trace of the one who queued it; a job of a schedule begins one. */
export function traceJob<T>(queue: QueueName, job: Job, work: () => Promise<T>): Promise<T> {
  const tracing = activeTracing();
  if (tracing === null) return work();
  const values = { ...valuesOf(queue, 'process'), 'messaging.message.id': job.id };
  return runSpan(tracing, { name: `process ${queue}`, kind: 'consumer', parent: carrierOf(job), values }, work);
}

function valuesOf(queue: QueueName, operation: 'send' | 'process'): SpanValues {
  return {
    'messaging.system': 'bullmq',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': queue,
  };
}

function carrierOf({ opts }: Job): TraceCarrier | 'none' {
  try {
    const found = JSON.parse(opts.telemetry?.metadata ?? '') as Partial<TraceCarrier> | null;
    if (typeof found?.traceparent !== 'string') return 'none';
    const { traceparent, tracestate } = found;
    return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
  } catch {
    return 'none'; // without one, or of another program
  }
}
