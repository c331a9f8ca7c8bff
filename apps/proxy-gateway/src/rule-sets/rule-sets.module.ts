import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { RequestRuleSetRefresh } from './request-rule-set-refresh.js';
import { RuleSetRefreshModule } from './rule-set-refresh.module.js';
import { RuleSetsController } from './rule-sets.controller.js';
import { RuleSetsService } from './rule-sets.service.js';

@Module({
  imports: [KernelModule, RuleSetRefreshModule],
  controllers: [RuleSetsController],
  providers: [RuleSetsService, RequestRuleSetRefresh],
})
export class RuleSetsModule {}
