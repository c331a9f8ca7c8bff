import { FlowFailures } from '@gatehouse/net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { JsonLogger } from '../logging/json-logger.js';
import { MetricsRegistry } from './metrics-registry.js';

/** Logs and counts the flows of this process that an exception ended. */
@Injectable()
export class FlowFailureMetrics implements OnApplicationShutdown {
  private readonly failures: FlowFailures;

  constructor(logger: JsonLogger, metrics: MetricsRegistry) {
    this.failures = new FlowFailures((message, fields) => logger.error(message, fields, 'Flows'));
    metrics.countFlowFailures('service', () => this.failures.total);
  }

  onApplicationShutdown(): void {
    this.failures.stop();
  }
}
