import { Module } from '@nestjs/common';
import { ListenPorts } from './listen-port.js';
import { TunnelMetrics } from './tunnel-metrics.js';
import { TunnelsController } from './tunnels.controller.js';
import { TunnelsService } from './tunnels.service.js';
import { VisitorKeys } from './visitor-keys.js';

@Module({
  controllers: [TunnelsController],
  providers: [TunnelsService, ListenPorts, VisitorKeys, TunnelMetrics],
  exports: [TunnelsService, ListenPorts, VisitorKeys],
})
export class TunnelsModule {}
