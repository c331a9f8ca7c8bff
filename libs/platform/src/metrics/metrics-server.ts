import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MetricsRegistry } from './metrics-registry.js';
import { serveMetrics } from './watch-metrics.js';

/** `/metrics` on a separate port, on which nothing else is served. */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private server: Server | undefined;

  constructor(private readonly metrics: MetricsRegistry) {}

  /** The port on which it listens; undefined while it does not. */
  get port(): number | undefined {
    return (this.server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** @throws Error of `listen`. */
  async listen(port: number, address: string): Promise<void> {
    this.server = await serveMetrics({ port, address }, () => this.metrics.render());
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
