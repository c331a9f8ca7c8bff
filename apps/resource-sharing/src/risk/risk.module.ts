import { Global, Module } from '@nestjs/common';
import { RiskStates } from './risk-states.service.js';
import { ShareLooks } from './share-looks.js';
import { UnlockRisk } from './unlock-risk.js';

/** What users' unlocks say about them. */
@Global()
@Module({
  providers: [RiskStates, ShareLooks, UnlockRisk],
  exports: [RiskStates, ShareLooks, UnlockRisk],
})
export class RiskModule {}
