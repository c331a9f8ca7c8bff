import { Global, Module } from '@nestjs/common';
import { RiskSettings } from './risk-settings.js';
import { RiskStates } from './risk-states.service.js';
import { ShareLooks } from './share-looks.js';
import { UnlockRisk } from './unlock-risk.js';

/** Watches users' unlocks for suspicious behaviour. */
@Global()
@Module({
  providers: [RiskSettings, RiskStates, ShareLooks, UnlockRisk],
  exports: [RiskSettings, RiskStates, ShareLooks, UnlockRisk],
})
export class RiskModule {}
