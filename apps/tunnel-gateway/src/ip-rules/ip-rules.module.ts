import { Module } from '@nestjs/common';
import { ConsoleRules } from './console-rules.js';
import { IpRuleCheckService } from './ip-rule-check.js';
import { IpRulesController } from './ip-rules.controller.js';
import { IpRulesService } from './ip-rules.service.js';
import { RuleDatabases } from './rule-databases.js';

@Module({
  controllers: [IpRulesController],
  providers: [IpRulesService, IpRuleCheckService, RuleDatabases, ConsoleRules],
  exports: [RuleDatabases, ConsoleRules],
})
export class IpRulesModule {}
