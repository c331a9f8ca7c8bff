import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type FlowFailureSource = () => number | Promise<number>;

/** This process's metrics, in a separate registry, so that two applications in one process do not mix. */
@Injectable()
export class MetricsRegistry implements OnApplicationShutdown {
  readonly registry = new Registry();
  private readonly requests: Histogram<'method' | 'route' | 'status'>;
  private readonly refusedRows: Counter<'table'>;
  private readonly flowFailures: Counter<'process'>;
  private readonly flowFailureSources = new Map<string, FlowFailureSource>();
  private readonly collectors: (() => Promise<void>)[] = [];
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

  /** Records one answered request; `route` is the template, never the requested address. */
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

  /** Prometheus text. Process metrics start with the first scrape, so that they cost nothing without one. */
  async render(): Promise<{ contentType: string; text: string }> {
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
