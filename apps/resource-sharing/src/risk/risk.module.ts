import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RiskStates } from './risk-states.service.js';
import { ShareLooks } from './share-looks.js';
import { TierCeilings } from './tier-ceilings.js';
import { UnlockRisk } from './unlock-risk.js';

/** What users' unlocks say about them. Its guard must come behind that of OpenApiModule, which is to be imported first. */
@Global()
@Module({
  providers: [RiskStates, ShareLooks, TierCeilings, UnlockRisk, { provide: APP_GUARD, useExisting: TierCeilings }],
  exports: [RiskStates, ShareLooks, UnlockRisk],
})
export class RiskModule {}
