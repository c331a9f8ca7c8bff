import { Module, type DynamicModule } from '@nestjs/common';
import { HealthRegistry } from '../health/health-registry.js';
import { JsonLogger } from '../logging/json-logger.js';
import { FlowFailureMetrics } from '../metrics/flow-failure-metrics.js';
import { MetricsRegistry } from '../metrics/metrics-registry.js';
import { MetricsServer } from '../metrics/metrics-server.js';

/** Gives every module of a service the logger, the health checks and the metrics. */
@Module({})
export class PlatformModule {
  static forRoot(logger: JsonLogger): DynamicModule {
    return {
      module: PlatformModule,
      global: true,
      providers: [
        { provide: JsonLogger, useValue: logger },
        { provide: HealthRegistry, useFactory: () => new HealthRegistry(logger) },
        MetricsRegistry,
        FlowFailureMetrics,
        MetricsServer,
      ],
      exports: [JsonLogger, HealthRegistry, MetricsRegistry, MetricsServer],
    };
  }
}
