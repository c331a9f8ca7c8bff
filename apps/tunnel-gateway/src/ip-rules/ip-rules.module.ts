import { Module } from '@nestjs/common';
import { ConsoleRules } from './console-rules.js';
import { IpRuleCheckService } from './ip-rule-check.js';
import { IpRulesController } from './ip-rules.controller.js';
import { IpRulesService } from './ip-rules.service.js';
import { RuleLists } from './rule-lists.js';
import { RuleDatabases } from './rule-databases.js';

@Module({
  controllers: [IpRulesController],
  providers: [IpRulesService, IpRuleCheckService, RuleDatabases, RuleLists, ConsoleRules],
  exports: [RuleDatabases, RuleLists, ConsoleRules],
})
export class IpRulesModule {}
