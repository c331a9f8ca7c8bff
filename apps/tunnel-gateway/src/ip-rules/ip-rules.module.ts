import { Module } from '@nestjs/common';
import { ConsoleRules } from './console-rules.js';
import { Countries } from './countries.js';
import { IpRuleCheckService } from './ip-rule-check.js';
import { IpRulesController } from './ip-rules.controller.js';
import { IpRulesService } from './ip-rules.service.js';

@Module({
  controllers: [IpRulesController],
  providers: [IpRulesService, IpRuleCheckService, Countries, ConsoleRules],
  exports: [Countries, ConsoleRules],
})
export class IpRulesModule {}
