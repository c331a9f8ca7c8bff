import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { DocumentParser } from '../documents/document-parser.js';
import { CountryChoice } from './country-choice.js';
import { NodeStorageModule } from './node-storage.module.js';
import { ActiveConnections } from './active-connections.js';
import { NodeMetrics } from './node-metrics.js';
import { NodesController } from './nodes.controller.js';
import { NodesQuery } from './nodes.query.js';
import { NodesService } from './nodes.service.js';
import { OpenedNodes } from './opened-nodes.js';
import { NodeBatchController } from './batch/node-batch.controller.js';
import { NodeBatch } from './batch/node-batch.js';
import { ExportNodes } from './transfer/export-nodes.js';
import { ImportNodes } from './transfer/import-nodes.js';
import { NodeTransferController } from './transfer/transfer.controller.js';

@Module({
  imports: [KernelModule, NodeStorageModule],
  // Fixed paths must come before `:id`.
  controllers: [NodeTransferController, NodeBatchController, NodesController],
  providers: [
    NodesService,
    CountryChoice,
    NodesQuery,
    NodeMetrics,
    ActiveConnections,
    OpenedNodes,
    NodeBatch,
    ExportNodes,
    ImportNodes,
    { provide: DocumentParser, useFactory: () => new DocumentParser() },
  ],
})
export class NodesModule {}
