import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from '@gatehouse/testing';

type AnyValue = { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };
interface Attribute {
  key: string;
  value: AnyValue;
}
/** https://github.com/open-telemetry/opentelemetry-proto, as JSON. */
interface ExportRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        attributes: Attribute[];
        status?: { code?: number };
        startTimeUnixNano: string;
        endTimeUnixNano: string;
      }[];
    }[];
  }[];
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  kind: (typeof KINDS)[number];
  values: Record<string, string | number | boolean | undefined>;
  failed: boolean;
  milliseconds: number;
}

/** Stands in for an OpenTelemetry collector: takes OTLP/HTTP with JSON, and keeps the spans. */
export class StandInCollector implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** All that was sent, as it was. */
  received = '';
  headers: IncomingHttpHeaders = {};

  private constructor(private readonly server: Server) {}

  static async start(): Promise<StandInCollector> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const collector = new StandInCollector(server);
    server.on('request', (request, response) => {
      collector.headers = request.headers;
      void text(request).then((body) => {
        const isExport = request.method === 'POST' && request.url === '/v1/traces';
        if (isExport) collector.keep(body);
        response.writeHead(isExport ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
      });
    });
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Settings with which a program sends its traces here. */
  get settings(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url };
  }

  /** The spans of a trace, when one that satisfies the condition has come. */
  async trace(traceId: string, isComplete: (spans: ReceivedSpan[]) => boolean): Promise<ReceivedSpan[]> {
    return await waitFor(() => {
      const found = this.spans.filter((span) => span.traceId === traceId);
      return isComplete(found) ? found : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private keep(body: string): void {
    this.received += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          service,
          traceId: span.traceId,
          spanId: span.spanId,
          parentId: span.parentSpanId ?? '',
          name: span.name,
          kind: KINDS[span.kind] ?? 'unspecified',
          values: valuesOf(span.attributes),
          failed: span.status?.code === 2,
          milliseconds: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        });
      }
    }
  }
}

function valuesOf(attributes: readonly Attribute[]): ReceivedSpan['values'] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue,
    ]),
  );
}

/** A trace that a client began: its id, the id of their span, and the header that says so. */
export function beginTrace(): { traceId: string; spanId: string; traceparent: string } {
  const hex = (length: number): string =>
    Array.from({ length }, () => Math.floor(Math.random() * 15 + 1).toString(16)).join('');
  const [traceId, spanId] = [hex(32), hex(16)];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` };
}
