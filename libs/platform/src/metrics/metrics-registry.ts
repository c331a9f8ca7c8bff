import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { answerWithin } from './answer-within.js';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A source that takes longer is left out of a scrape: Prometheus waits 10 s by default. */
const SOURCE_MS = 3_000;

type FlowFailureSource = () => number | Promise<number>;

/** A metric whose value belongs to the last read, and disappears with it. */
export type ReadMetric = Pick<Gauge | Counter, 'reset'>;

/** This process's metrics, in a registry of their own so that two applications in one process do not mix. */
@Injectable()
export class MetricsRegistry implements OnApplicationShutdown {
  readonly registry = new Registry();
  private readonly requests: Histogram<'method' | 'route' | 'status'>;
  private readonly refusedRows: Counter<'table'>;
  private readonly flowFailures: Counter<'process'>;
  private readonly errors: Counter<'code'>;
  private readonly limitsHit: Counter<'limit'>;
  private readonly unread: Counter<'source'>;
  private readonly flowFailureSources = new Map<string, FlowFailureSource>();
  private readonly collectors: (() => Promise<void>)[] = [];
  private rendering: Promise<{ contentType: string; text: string }> | undefined;
  private collecting = false;

  constructor() {
    this.requests = this.histogram('http_request_duration_seconds', 'Time to answer, by route template', BUCKETS, [
      'method',
      'route',
      'status',
    ]);
    this.refusedRows = this.counter(
      'database_refused_rows_total',
      'Rows that the database refused for good, and that are in the log instead',
      ['table'],
    );
    this.flowFailures = this.counter(
      'flow_failures_total',
      'Connections, requests and datagrams that a defect ended, by process; each is in the log',
      ['process'],
    );
    this.errors = this.counter('gatehouse_errors_total', 'Requests that were answered with an error, by its code', [
      'code',
    ]);
    this.limitsHit = this.counter('gatehouse_limits_hit_total', 'Requests that a limit refused, by limit', ['limit']);
    this.unread = this.counter(
      'gatehouse_metrics_unread_total',
      'Scrapes without the figures of a source that did not answer',
      ['source'],
    );
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  histogram<L extends string>(name: string, help: string, buckets: number[], labels: readonly L[] = []): Histogram<L> {
    return new Histogram({ name, help, buckets, labelNames: [...labels], registers: [this.registry] });
  }

  /** `collect` is awaited before each scrape is answered; it must not reject. */
  onScrape(collect: () => Promise<void>): void {
    this.collectors.push(collect);
  }

  /**
   * Reads `source` once for each scrape. `show` sets the metrics of the answer. They are empty when the source fails or is
   * slow, because an old value would look like a current one.
   */
  readOnScrape<T>(
    source: string,
    metrics: readonly ReadMetric[],
    read: () => Promise<T>,
    show: (value: T) => void,
  ): void {
    this.onScrape(async () => {
      const answer = await answerWithin(SOURCE_MS, read);
      for (const metric of metrics) metric.reset();
      if (answer === null) this.unread.inc({ source });
      else show(answer.value);
    });
  }

  /** One request that was answered with an error. `limit`: the limit that refused it, if one did. */
  noteError(code: string, limit?: string): void {
    this.errors.inc({ code });
    if (limit !== undefined) this.limitsHit.inc({ limit });
  }

  /** Records one answered request; `route` is the template, never the address that was asked. */
  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe({ method, route, status: String(status) }, seconds);
  }

  /** Rows that the database refuses, however often they are sent. `table`: their purpose, such as `audit`. */
  noteRefusedRows(table: string, rows: number): void {
    this.refusedRows.inc({ table }, rows);
  }

  /**
   * Counts that are requested from a process at each scrape. `process`: `service`, or a data plane such as `kernel`.
   */
  countFlowFailures(process: string, total: FlowFailureSource): void {
    this.flowFailureSources.set(process, total);
  }

  /**
   * Prometheus text. Process metrics start with the first scrape: who never scrapes pays nothing. Scrapes that come while
   * one is answered share its answer.
   */
  render(): Promise<{ contentType: string; text: string }> {
    this.rendering ??= this.renderNow().finally(() => {
      this.rendering = undefined;
    });
    return this.rendering;
  }

  private async renderNow(): Promise<{ contentType: string; text: string }> {
    if (!this.collecting) {
      this.collecting = true;
      collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 50 });
    }
    await this.readFlowFailures();
    await Promise.all(this.collectors.map((collect) => collect()));
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  /** A process that does not answer is left out. */
  private async readFlowFailures(): Promise<void> {
    const asked = [...this.flowFailureSources].map(async ([process, total]) => [process, await total()] as const);
    const answers = await Promise.allSettled(asked);
    this.flowFailures.reset();
    for (const answer of answers) {
      if (answer.status === 'fulfilled') this.flowFailures.inc({ process: answer.value[0] }, answer.value[1]);
    }
  }

  onApplicationShutdown(): void {
    this.registry.clear();
  }
}
