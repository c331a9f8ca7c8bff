import { pgPool } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, Optional } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TunnelGatewaySettings } from '../settings.js';
import { EdgeLauncher } from './edge-launcher.js';
import { RunningEdge, startEdge } from './start-edge.js';

/** Provides the service with a data plane: a running one, or a new one. */
@Injectable()
export class EdgeStarter {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TunnelGatewaySettings,
    private readonly launcher: EdgeLauncher,
    private readonly logger: JsonLogger,
    @Optional() private readonly handedOver?: RunningEdge,
  ) {}

  /** @throws StartError when a port of the gateway is taken. */
  async start(): Promise<RunningEdge> {
    const { settings, launcher, logger } = this;
    return this.handedOver ?? startEdge({ settings, launcher, logger, queries: pgPool(this.dataSource) });
  }
}
