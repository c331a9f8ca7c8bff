import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { TrafficModule } from '../traffic/traffic.module.js';
import { MergedRulesService } from './merged/merged-rules.service.js';
import { RuleStorageModule } from '../kernel-config/rule-storage.module.js';
import { RuleViews } from './rule-views.js';
import { RulesController } from './rules.controller.js';
import { RuleDocuments } from './rule-documents.js';
import { RulesService } from './rules.service.js';
import { TestRoute } from './test-route.js';
import { RuleExport } from './transfer/rule-export.service.js';
import { RuleImport } from './transfer/rule-import.service.js';
import { RuleTransferController } from './transfer/rule-transfer.controller.js';

@Module({
  imports: [KernelModule, RuleStorageModule, TrafficModule],
  controllers: [RuleTransferController, RulesController],
  providers: [RulesService, RuleDocuments, RuleViews, MergedRulesService, TestRoute, RuleImport, RuleExport],
})
export class RulesModule {}
