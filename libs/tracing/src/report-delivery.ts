import type { SpanExporter } from '@opentelemetry/sdk-trace';

export interface DeliveryLog {
  /** The receiver does not take spans. Called once, until it does. */
  failed(reason: string): void;
  /** It does again; so many spans were lost. */
  resumed(lost: number): void;
}

type Export = SpanExporter['export'];
const SUCCESS = 0;

/** An exporter that says once that the receiver fails, and once that it is back. The package itself would say nothing. */
export function reportDelivery(exporter: SpanExporter, log: DeliveryLog): SpanExporter {
  let lost = 0;
  const send: Export = (spans, done) =>
    exporter.export(spans, ({ code, error }) => {
      if (code !== SUCCESS) {
        if (lost === 0) log.failed(reasonOf(error));
        lost += spans.length;
      } else if (lost > 0) {
        log.resumed(lost);
        lost = 0;
      }
      // Nobody waits for the result but the batch, which does the same either way.
      done({ code: SUCCESS });
    });
  return {
    export: send,
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Errors of connections have an empty message; the reasons are inside. */
function reasonOf(error: Error | undefined): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const text = first instanceof Error && first.message !== '' ? first.message : 'no answer';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
