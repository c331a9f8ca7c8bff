import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-host/kernel.module.js';
import { NodeStorageModule } from './node-storage.module.js';
import { NodesController } from './nodes.controller.js';
import { NodesQuery } from './nodes.query.js';
import { NodesService } from './nodes.service.js';

@Module({
  imports: [KernelModule, NodeStorageModule],
  controllers: [NodesController],
  providers: [NodesService, NodesQuery],
})
export class NodesModule {}
