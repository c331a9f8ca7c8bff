import { Module } from '@nestjs/common';
import { SubscriptionFetcher } from '../documents/subscription-fetcher.js';
import { ContentSource } from './content-source.js';
import { RefreshRuleSet } from './refresh-rule-set.js';
import { RefreshRuleSetHandler } from './refresh-rule-set.handler.js';
import { RuleSetDefinitions } from './rule-set-definitions.js';
import { RuleSetFolder } from './rule-set-folder.js';
import { RuleSetParser } from './rule-set-parser.js';
import { RuleSetSchedules } from './rule-set-schedules.js';

/** The refreshes of rule sets, for processes that run workers. */
@Module({
  providers: [
    RefreshRuleSet,
    RefreshRuleSetHandler,
    RuleSetSchedules,
    RuleSetDefinitions,
    ContentSource,
    RuleSetFolder,
    { provide: RuleSetParser, useFactory: () => new RuleSetParser() },
    { provide: SubscriptionFetcher, useFactory: () => new SubscriptionFetcher() },
  ],
  exports: [RuleSetSchedules, RuleSetDefinitions],
})
export class RuleSetRefreshModule {}
